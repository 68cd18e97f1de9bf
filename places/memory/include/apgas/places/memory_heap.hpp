// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/remote_memory.hpp>
#include <apgas/places/allocation.hpp>
#include <apgas/places/slot_table.hpp>

// The memory of a place that global_ptr points into: blocks in regions that other places reach.
//
// Short blocks (with their header up to 512 KiB) have sizes of powers of two and share regions;
// each long one has a region. Blocks that are given back are used again, a long one for those of at
// least half its size. Regions last until the end of the run: other places have them mapped.
//
//   all but segments_    under lock_
namespace apgas::inline v0::remote {

class memory_heap {
 public:
  // `shared`: where regions come from; null: from the heap of the process.
  memory_heap(int home, comm::remote_memory* shared);

  // A block of zeros. Context: any thread. Throws: std::bad_alloc.
  // Cost: a short lock and the zeros; a new region costs some 100 us.
  allocation_name allocate(std::uint64_t bytes);
  // Why not, if it cannot be: stale. Context: any thread.
  access_failure release(const allocation_name& allocation) noexcept;

  // Null: there is none of that number. Context: any thread.
  comm::shared_segment* segment(std::uint32_t number) const noexcept {
    const entry* const found = segments_.find(number);
    return found == nullptr ? nullptr : found->segment.get();
  }

  static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 37;  // what allocation_name can say

 private:
  struct entry {
    std::unique_ptr<comm::shared_segment> segment;
  };
  static constexpr unsigned small_classes = 14;  // 64 << 13 is 512 KiB
  static constexpr unsigned long_class = small_classes;
  static constexpr std::size_t segment_bytes = std::size_t{4} << 20;

  // A block as a number: region << 32 | block; 0: none.
  static std::uint64_t number_of(const allocation_name& b) noexcept {
    return std::uint64_t{b.segment} << 32 | b.allocation;
  }
  allocation_header& header_of(std::uint64_t number) const noexcept;
  std::uint64_t take(unsigned size_class, std::uint64_t bytes) noexcept;
  std::uint64_t take_long(std::uint64_t bytes) noexcept;
  std::uint64_t carve(unsigned size_class) noexcept;
  void add_segment(unsigned size_class, std::uint64_t bytes);

  const int home_;
  comm::remote_memory* const shared_;
  slot_table<entry> segments_;

  base::spin_lock lock_;
  std::uint32_t next_generation_;
  std::uint32_t next_segment_ = 0;
  std::uint32_t open_segment_ = 0;  // where short blocks are carved from
  std::uint64_t open_at_ = 0;
  std::uint64_t open_end_ = 0;
  std::array<std::uint64_t, small_classes + 1> free_{};  // lists by class
};

}  // namespace apgas::inline v0::remote
