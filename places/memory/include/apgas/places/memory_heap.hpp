// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <apgas/base/api.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/remote_memory.hpp>
#include <apgas/places/allocation.hpp>
#include <apgas/places/slot_table.hpp>

// The heap of a place from which allocate() takes memory: allocations in segments that other places
// can map.
//
// Small allocations (up to 512 KiB with their header) are rounded up to powers of two and share
// segments. Each larger one has a segment of its own. Released memory is used again, that of a
// large allocation for requests of at least half its size. Segments are kept until the end of the
// run, because other places have them mapped.
//
//   all fields but segments_    under lock_
namespace apgas::inline v0::remote {

class memory_heap {
 public:
  // Takes segments from `shared`, or from the heap of the process if it is null.
  memory_heap(int home, comm::remote_memory* shared);

  // Returns an allocation of zeroed bytes.
  // Context: any thread.
  // Throws: std::bad_alloc.
  // Cost: a short lock and writing the zeros; a new segment costs some 100 us.
  APGAS_API allocation_name allocate(std::uint64_t bytes);
  // Releases an allocation. Returns `stale` or `no_allocation` if it does not exist.
  // Context: any thread.
  access_failure release(const allocation_name& allocation) noexcept;

  // The segment with this number, or null.
  // Context: any thread.
  comm::shared_segment* segment(std::uint32_t number) const noexcept {
    const entry* const found = segments_.find(number);
    return found == nullptr ? nullptr : found->segment.get();
  }

  static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 37;  // limit of allocation_name

 private:
  struct entry {
    std::unique_ptr<comm::shared_segment> segment;
  };
  static constexpr unsigned small_classes = 14;  // 64 << 13 is 512 KiB
  static constexpr unsigned long_class = small_classes;
  static constexpr std::size_t segment_bytes = std::size_t{4} << 20;

  // An allocation as a number: segment << 32 | allocation; 0 means none.
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
  std::uint32_t open_segment_ = 0;  // small allocations are carved from it
  std::uint64_t open_at_ = 0;
  std::uint64_t open_end_ = 0;
  std::array<std::uint64_t, small_classes + 1> free_{};  // free lists by size class
};

}  // namespace apgas::inline v0::remote
