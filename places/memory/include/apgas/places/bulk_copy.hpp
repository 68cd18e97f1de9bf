// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <source_location>

#include <apgas/base/api.hpp>
#include <apgas/future.hpp>
#include <apgas/places/message_access.hpp>
#include <apgas/places/place_memory.hpp>

// The functions of one_sided.hpp without their types: copies bytes between an allocation and memory
// of this place. If the segment is directly accessible, the calling task copies; otherwise messages
// do (message_access.hpp). `operation` is the public function that was called; error messages name
// it.
//
// Throws of all: illegal_operation for a range that is not in a live allocation; an
// asynchronous access reports it to the finish or the future if the home detects it.
// Context of all: task; may suspend.
namespace apgas::inline v0::remote {

struct bulk_put {
  const std::byte* from;
  allocation_range to;
};
struct bulk_get {
  allocation_range from;
  std::byte* to;
};

inline const std::byte* bytes_at(const void* p) noexcept {
  return static_cast<const std::byte*>(p);
}
inline std::byte* bytes_at(void* p) noexcept { return static_cast<std::byte*>(p); }

// The same by messages. Return when the access is complete.
APGAS_API void put_by_messages(scheduler::fiber& self, const char* operation, const bulk_put& what);
APGAS_API void get_by_messages(scheduler::fiber& self, const char* operation, const bulk_get& what);

// Writes the bytes, and returns when they are in the allocation.
[[gnu::always_inline]] inline void put(scheduler::fiber& self, const char* operation,
                                       const bulk_put& what) {
  if (what.to.bytes == 0) return;
  std::byte* const there = direct_address(self, operation, what.to);
  if (there == nullptr) return put_by_messages(self, operation, what);
  std::memcpy(there, what.from, what.to.bytes);
}

// Reads the bytes, and returns when they are here.
[[gnu::always_inline]] inline void get(scheduler::fiber& self, const char* operation,
                                       const bulk_get& what) {
  if (what.from.bytes == 0) return;
  const std::byte* const there = direct_address(self, operation, what.from);
  if (there == nullptr) return get_by_messages(self, operation, what);
  std::memcpy(what.to, there, what.from.bytes);
}

// Copies from one allocation to another, whichever places have them.
// Requires: both ranges have the same length.
APGAS_API void bulk_copy_between(scheduler::fiber& self, const char* operation,
                                 const allocation_range& from, const allocation_range& to);

// Start the access and return. The finish of the calling task waits for it.
APGAS_API void async_put(scheduler::fiber& self, const char* operation, const bulk_put& what,
                         std::source_location site);
APGAS_API void async_get(scheduler::fiber& self, const char* operation, const bulk_get& what,
                         std::source_location site);

// The same with a future; the finish of the calling task waits, too.
APGAS_API future<void> put_future(scheduler::fiber& self, const char* operation,
                                  const bulk_put& what, std::source_location site);

// The same for reading. If T is void, the bytes are written to what.to; otherwise they are the
// value of the future.
template <class T>
future<T> get_future(scheduler::fiber& self, const char* operation, const bulk_get& what,
                     std::source_location site) {
  const std::byte* const there =
      what.from.bytes == 0 ? what.to : direct_address(self, operation, what.from);
  if (there == nullptr && what.from.bytes != 0) {
    return sync::future_access::make(future_access<T>::start(
        self,
        {.name = operation, .operation = memory_operation::get, .range = what.from, .to = what.to},
        site));
  }
  auto state = sync::ref<sync::future_state<T>>::adopt(new sync::future_state<T>);
  if constexpr (std::is_void_v<T>) {
    if (what.from.bytes != 0) std::memcpy(what.to, there, what.from.bytes);
    state->emplace();
  } else {
    comm::detail::raw_bytes<sizeof(T)> raw;
    std::memcpy(&raw, there, sizeof raw);
    state->emplace(__builtin_bit_cast(T, raw));
  }
  state->publish_value();
  return sync::future_access::make(std::move(state));
}

}  // namespace apgas::inline v0::remote
