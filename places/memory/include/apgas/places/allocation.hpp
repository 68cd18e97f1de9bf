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
struct block_name {
  std::int32_t home = 0;
  std::uint32_t region = 0;
  std::uint32_t block = 0;  // where its bytes begin in the region, in units of 64
  std::uint32_t generation = 0;

  bool operator==(const block_name&) const = default;
};

struct alignas(64) block_header {
  base::atomic<std::uint32_t> generation{0};  // 0: free
  std::uint32_t size_class = 0;
  std::uint64_t bytes = 0;      // as asked for
  std::uint64_t capacity = 0;   // of the block, without header
  std::uint64_t next_free = 0;  // of the home: the next of a list
};
inline constexpr std::size_t block_unit = sizeof(block_header);
static_assert(block_unit == 64);
static_assert(decltype(block_header::generation)::is_always_lock_free);

// What is wrong with an access.
enum class access_fault : std::uint32_t {
  none,
  no_block,      // the home never had such a region
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
struct block_range {
  block_name block;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

// The header of a block in a region; null: it cannot lie there.
inline block_header* header_in(std::byte* region, std::uint64_t region_bytes,
                               const block_name& block) noexcept {
  const std::uint64_t begin = std::uint64_t{block.block} * block_unit;
  if (begin < block_unit || begin > region_bytes) return nullptr;
  return reinterpret_cast<block_header*>(region + begin - block_unit);
}

// Context: any thread. Cost: two loads.
inline access_failure check_access(std::byte* region, std::uint64_t region_bytes,
                                   const block_range& what) noexcept {
  const block_header* const header = header_in(region, region_bytes, what.block);
  if (header == nullptr) return {.fault = access_fault::no_block};
  if (header->generation.load(base::acquire) != what.block.generation ||  // P1
      what.block.generation == 0) {
    return {.fault = access_fault::stale};
  }
  const std::uint64_t bytes = header->bytes;
  if (what.offset > bytes || what.bytes > bytes - what.offset) {
    return {.fault = access_fault::out_of_range, .bytes = bytes};
  }
  return {};
}

// Throws illegal_operation for an access by the function `operation`.
[[noreturn]] void throw_access_failure(const char* operation, const block_range& what,
                                       const access_failure& failure);

}  // namespace apgas::inline v0::remote
