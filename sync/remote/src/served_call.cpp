// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/served_call.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <apgas/sync/remote_call.hpp>
#include <apgas/sync/remote_task.hpp>

namespace apgas::inline v0::sync {
namespace {

// The scheduling loop, run_frame() of frame_receiver.cpp and what lies between them take less than
// this, also without optimisation.
constexpr std::size_t searched_bytes = 4096;

// Reads where the sanitizers see the frames of other functions.
#if defined(__clang__)
[[clang::no_sanitize("thread", "address")]]
#else
[[gnu::no_sanitize("thread"), gnu::no_sanitize("address")]]
#endif
void copy_words(const std::byte* from, std::byte* to, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += 8) {
    *reinterpret_cast<volatile std::uint64_t*>(to + i) =
        *reinterpret_cast<const volatile std::uint64_t*>(from + i);
  }
}

template <class T>
T field(const std::byte* object, std::size_t offset) {
  T value;
  std::memcpy(&value, object + offset, sizeof value);
  return value;
}

}  // namespace

// A remote_task is recognised by the address of the place and by plausible values around it.
std::optional<served_call> served_call_of(const scheduler::fiber& f, const place_state& place) {
  alignas(8) std::byte words[searched_bytes];
  const auto end = reinterpret_cast<std::uintptr_t>(&f);
  const auto low = std::max(reinterpret_cast<std::uintptr_t>(f.stack_pointer) & ~std::uintptr_t{7},
                            end - searched_bytes);
  if (f.stack_pointer == nullptr || low >= end || end - low > searched_bytes) return std::nullopt;
  const std::size_t bytes = end - low;
  copy_words(reinterpret_cast<const std::byte*>(low), words, bytes);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
  constexpr std::size_t at_place = offsetof(remote_task, place);
  constexpr std::size_t at_finish = offsetof(remote_task, finish);
  constexpr std::size_t at_call = offsetof(remote_task, call);
  constexpr std::size_t at_source =
      offsetof(remote_task, frame) + offsetof(comm::inbound_frame, source);
#pragma GCC diagnostic pop
  for (std::size_t i = bytes; i >= sizeof(remote_task); i -= 8) {
    const std::byte* const object = words + i - sizeof(remote_task);
    if (field<const place_state*>(object, at_place) != &place) continue;
    const auto source = field<comm::rank>(object, at_source);
    auto* const finish = field<finish_core*>(object, at_finish);
    if (finish == nullptr || source < 0 || source >= place.places) continue;
    return served_call{source, field<std::uint64_t>(object, at_call) & ~call_of_at, finish};
  }
  return std::nullopt;
}

}  // namespace apgas::inline v0::sync
