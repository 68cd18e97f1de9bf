// SPDX-License-Identifier: Apache-2.0
#pragma once

// What goes over the connections of the watch: one hello from who connects, then records either
// way. Both ends run the same program on the same kind of machine.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include <apgas/comm/rank.hpp>

namespace apgas::inline v0::comm {

// Random, made by place 0: who knows it belongs to the job.
using detector_token = std::array<std::byte, 16>;

// Of what is in this file. Places of different versions of apgas tell so at their start.
inline constexpr std::uint32_t detector_protocol = 2;

// Wire: the first bytes of a connection.
struct detector_hello {
  char magic[8] = {'a', 'p', 'g', 'a', 's', 'w', 't', 'c'};
  std::uint32_t version = detector_protocol;
  rank from = -1;
  detector_token token{};
};
static_assert(sizeof(detector_hello) == 32 && std::is_trivially_copyable_v<detector_hello>);

// Wire: what follows.
struct detector_message {
  enum class kind : std::uint32_t { alive = 0x57410001, bye, gone, reported, done };
  kind what = kind::alive;
  std::int32_t about = 0;   // gone: the rank
  std::uint32_t cause = 0;  // gone: an end_cause
  std::int32_t code = 0;    // spoken: the exit code
};
static_assert(sizeof(detector_message) == 16 && std::is_trivially_copyable_v<detector_message>);

// Gathers the bytes of what has a fixed size.
template <class T>
class message_assembler {
 public:
  // Takes bytes off the front; the value once it is complete, and then the next begins.
  std::optional<T> take(std::span<const std::byte>& from) noexcept {
    const std::size_t n = std::min(from.size(), sizeof(T) - have_);
    if (n > 0) std::memcpy(bytes_ + have_, from.data(), n);
    have_ += n;
    from = from.subspan(n);
    if (have_ < sizeof(T)) return std::nullopt;
    have_ = 0;
    T whole;
    std::memcpy(&whole, bytes_, sizeof(T));
    return whole;
  }

  std::size_t missing() const noexcept { return sizeof(T) - have_; }

 private:
  std::byte bytes_[sizeof(T)] = {};
  std::size_t have_ = 0;
};

}  // namespace apgas::inline v0::comm
