// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <apgas/base/atomic.hpp>

// Blocks: what global_ptr points into. A block lies in a region of its home's memory behind a
// header, which says whether it is still the one that a pointer means and how long it is. Who has
// the region mapped looks there itself, at whichever place: so lifetime and bounds are checked at
// each access, for a load or two.
//
//                written by                                read by
//   generation   the home                                  anybody who reaches the region
//   all else     the home, while generation is 0           the same, after generation
//
// Invariants
//   I1  A generation is given to a block at most once in 2^32 allocations of its home, which begins
//       to count at random: a stale pointer is noticed, and almost surely one of another run.
//
// Pairs
//   P1  The header is complete for who sees the generation of its pointer.
namespace apgas::inline v0::remote {

// A name that may be sent. Generation 0: no block.
struct allocation_name {
  std::int32_t home = 0;
  std::uint32_t segment = 0;
  std::uint32_t allocation = 0;  // where its bytes begin in the region, in units of 64
  std::uint32_t generation = 0;

  bool operator==(const allocation_name&) const = default;
};

struct alignas(64) allocation_header {
  base::atomic<std::uint32_t> generation{0};  // 0: free
  std::uint32_t size_class = 0;
  std::uint64_t bytes = 0;      // as asked for
  std::uint64_t capacity = 0;   // of the block, without header
  std::uint64_t next_free = 0;  // of the home: the next of a list
};
inline constexpr std::size_t allocation_unit = sizeof(allocation_header);
static_assert(allocation_unit == 64);
static_assert(decltype(allocation_header::generation)::is_always_lock_free);

// What is wrong with an access.
enum class access_fault : std::uint32_t {
  none,
  no_allocation,      // the home never had such a region
  stale,         // the block has another generation, or none
  out_of_range,  // it is shorter
  no_place,      // the program has no such home
};

struct access_failure {
  access_fault fault = access_fault::none;
  std::uint32_t unused = 0;
  std::uint64_t bytes = 0;  // of the block, where it is there

  explicit operator bool() const noexcept { return fault != access_fault::none; }
};

// Bytes of a block. An offset that cannot be is the largest there is.
struct allocation_range {
  allocation_name allocation;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

// The header of a block in a region; null: it cannot lie there.
inline allocation_header* header_in(std::byte* segment, std::uint64_t segment_bytes,
                               const allocation_name& allocation) noexcept {
  const std::uint64_t begin = std::uint64_t{allocation.allocation} * allocation_unit;
  if (begin < allocation_unit || begin > segment_bytes) return nullptr;
  return reinterpret_cast<allocation_header*>(segment + begin - allocation_unit);
}

// Context: any thread. Cost: two loads.
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

// Throws illegal_operation for an access by the function `operation`.
[[noreturn]] void throw_access_failure(const char* operation, const allocation_range& what,
                                       const access_failure& failure);

}  // namespace apgas::inline v0::remote
