// SPDX-License-Identifier: Apache-2.0
#pragma once

// The messages of the failure detector. The process that connects sends one hello; after that, both
// ends send detector_messages. Both ends run the same program on the same kind of host, so the
// structs are sent as their bytes.

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

// A random number made by place 0. A process that knows it belongs to the job.
using detector_token = std::array<std::byte, 16>;

// The version of these messages. Places with different versions of apgas detect that at the start.
inline constexpr std::uint32_t detector_protocol = 2;

// The first bytes of a connection.
// Wire: 32 bytes.
struct detector_hello {
  char magic[8] = {'a', 'p', 'g', 'a', 's', 'w', 't', 'c'};
  std::uint32_t version = detector_protocol;
  rank from = -1;
  detector_token token{};
};
static_assert(sizeof(detector_hello) == 32 && std::is_trivially_copyable_v<detector_hello>);

// A message that follows the hello.
// Wire: 16 bytes.
struct detector_message {
  enum class kind : std::uint32_t { heartbeat = 0x57410001, goodbye, failure, reported, done };
  kind what = kind::heartbeat;
  std::int32_t about = 0;   // failure: the rank that failed
  std::uint32_t cause = 0;  // failure: a failure_cause
  std::int32_t code = 0;    // reported: the exit code
};
static_assert(sizeof(detector_message) == 16 && std::is_trivially_copyable_v<detector_message>);

// Assembles messages of a fixed size from the bytes that arrive.
template <class T>
class message_assembler {
 public:
  // Consumes bytes from the front of `from`. Returns a message once it is complete, and then starts
  // the next one.
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
