// SPDX-License-Identifier: Apache-2.0
#include <apgas/global_ptr.hpp>

#include <fmt/format.h>

#include <apgas/errors.hpp>

namespace apgas::inline v0::remote {

void release_here(const allocation_name& allocation) {
  place_memory& memory = place_memory_of(*scheduler::current_fiber());
  if (const auto failure = memory.heap().release(allocation)) {
    throw_access_failure("deallocate", {.allocation = allocation}, failure);
  }
}

void throw_too_many(std::size_t elements, std::size_t bytes_each) {
  throw illegal_operation(fmt::format(
      "allocate was asked for {} elements of {} bytes, but an allocation has at most {} bytes; "
      "check the number of elements, or divide them among several allocations",
      elements, bytes_each, memory_heap::most_bytes));
}

void throw_not_local(int here, int home) {
  throw bad_place(
      fmt::format("global_ptr::local was called at place {} for memory of place {}; run the code "
                  "there, at(p.home(), [p] {{ ... p.local() ... }}), or use rget or copy",
                  here, home));
}

void throw_not_first(std::int64_t index) {
  throw illegal_operation(
      fmt::format("deallocate was given a global_ptr to element {} of an allocation; give it the "
                  "pointer that allocate returned",
                  index));
}

}  // namespace apgas::inline v0::remote
