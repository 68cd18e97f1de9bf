// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <apgas/base/api.hpp>
#include <apgas/base/atomic.hpp>

// Allocations: what a global_ptr points into. An allocation is a range of bytes in a segment of its
// home's memory, behind a header that holds its generation and its length. A place that has the
// segment mapped reads the header there itself. So each access, from whichever place, checks
// lifetime and bounds for the cost of a load or two.
//
//                written by                          read by
//   generation   the home                            any place that has mapped the segment
//   the rest     the home, while generation is 0     the same, after it has read generation
//
// Invariants
//   I1  A place gives each generation at most once in 2^32 allocations, and begins to count at a
//       random number. So a stale pointer is detected, and almost certainly also a pointer of
//       another run.
//
// Pairs
//   P1  A place that reads the generation of its pointer from the header sees the complete header.
namespace apgas::inline v0::remote {

// Names an allocation; it may be sent. Generation 0 means no allocation.
struct allocation_name {
  std::int32_t home = 0;
  std::uint32_t segment = 0;
  std::uint32_t allocation = 0;  // where its bytes begin in the segment, divided by 64
  std::uint32_t generation = 0;

  bool operator==(const allocation_name&) const = default;
};

struct alignas(64) allocation_header {
  base::atomic<std::uint32_t> generation{0};  // 0: free
  std::uint32_t size_class = 0;
  std::uint64_t bytes = 0;      // as requested
  std::uint64_t capacity = 0;   // without the header
  std::uint64_t next_free = 0;  // the next in a free list of the home
};
inline constexpr std::size_t allocation_unit = sizeof(allocation_header);
static_assert(allocation_unit == 64);
static_assert(decltype(allocation_header::generation)::is_always_lock_free);

// Why an access was refused.
enum class access_fault : std::uint32_t {
  none,
  no_allocation,  // the home has no such segment
  stale,          // the allocation has another generation, or was released
  out_of_range,   // the range is not inside the allocation
  no_place,       // the program has no such place
};

struct access_failure {
  access_fault fault = access_fault::none;
  std::uint32_t unused = 0;
  std::uint64_t bytes = 0;  // length of the allocation, for out_of_range

  explicit operator bool() const noexcept { return fault != access_fault::none; }
};

// A range of bytes in an allocation. An impossible offset is represented by the largest one.
struct allocation_range {
  allocation_name allocation;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

// The header of an allocation in a segment, or null if it cannot lie there.
inline allocation_header* header_in(std::byte* segment, std::uint64_t segment_bytes,
                                    const allocation_name& allocation) noexcept {
  const std::uint64_t begin = std::uint64_t{allocation.allocation} * allocation_unit;
  if (begin < allocation_unit || begin > segment_bytes) return nullptr;
  return reinterpret_cast<allocation_header*>(segment + begin - allocation_unit);
}

// Checks that the range lies in a live allocation.
// Context: any thread.
// Cost: two loads.
inline access_failure check_access(std::byte* segment, std::uint64_t segment_bytes,
                                   const allocation_range& what) noexcept {
  const allocation_header* const header = header_in(segment, segment_bytes, what.allocation);
  if (header == nullptr) return {.fault = access_fault::no_allocation};
  if (header->generation.load(base::acquire) != what.allocation.generation ||  // P1
      what.allocation.generation == 0) {
    return {.fault = access_fault::stale};
  }
  const std::uint64_t bytes = header->bytes;
  if (what.offset > bytes || what.bytes > bytes - what.offset) {
    return {.fault = access_fault::out_of_range, .bytes = bytes};
  }
  return {};
}

// Throws illegal_operation with a message about the failed access. `operation` is the public
// function that was called.
APGAS_API [[noreturn]] void throw_access_failure(const char* operation,
                                                 const allocation_range& what,
                                                 const access_failure& failure);

}  // namespace apgas::inline v0::remote
