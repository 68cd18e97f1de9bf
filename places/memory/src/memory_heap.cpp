// SPDX-License-Identifier: Apache-2.0
#include <apgas/places/memory_heap.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include <apgas/base/random.hpp>

namespace apgas::inline v0::remote {
namespace {

constexpr std::uint64_t page = 4096;

constexpr std::uint64_t rounded(std::uint64_t bytes, std::uint64_t to) noexcept {
  return (bytes + to - 1) / to * to;
}

// A random start for each run and each place.
std::uint32_t first_generation(const void* heap) noexcept {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  base::random_engine random(static_cast<std::uint64_t>(now) ^
                             reinterpret_cast<std::uintptr_t>(heap));
  return static_cast<std::uint32_t>(random());
}

}  // namespace

memory_heap::memory_heap(int home, comm::remote_memory* shared)
    : home_(home), shared_(shared), next_generation_(first_generation(this)) {}

allocation_header& memory_heap::header_of(std::uint64_t number) const noexcept {
  std::byte* const memory = segment(static_cast<std::uint32_t>(number >> 32))->memory().data();
  const std::uint64_t begin = (number & UINT32_MAX) * allocation_unit;
  return *reinterpret_cast<allocation_header*>(memory + begin - allocation_unit);
}

allocation_name memory_heap::allocate(std::uint64_t bytes) {
  if (bytes > most_bytes) throw std::bad_alloc();
  const std::uint64_t all = bytes + allocation_unit;
  const auto width = static_cast<unsigned>(std::bit_width((all - 1) / allocation_unit));
  const unsigned size_class = std::clamp(width, 1U, long_class);
  std::uint64_t number = 0;
  allocation_name name;
  while (number == 0) {
    {
      const std::scoped_lock guard(lock_);
      number = take(size_class, bytes);
      if (number != 0) {
        next_generation_ += next_generation_ == UINT32_MAX ? 2 : 1;  // 0 means no allocation
        name = {.home = home_,
                .segment = static_cast<std::uint32_t>(number >> 32),
                .allocation = static_cast<std::uint32_t>(number),
                .generation = next_generation_};
      }
    }
    if (number == 0) add_segment(size_class, all);
  }
  allocation_header& header = header_of(number);
  header.bytes = bytes;
  std::memset(static_cast<void*>(&header + 1), 0, bytes);
  header.generation.store(name.generation, base::release);  // P1 of allocation.hpp
  return name;
}

// Takes an allocation from the free list or carves a new one; returns 0 if there is neither.
// Requires: lock_ is held.
std::uint64_t memory_heap::take(unsigned size_class, std::uint64_t bytes) noexcept {
  if (size_class == long_class) return take_long(bytes);
  std::uint64_t& list = free_[size_class];
  if (list == 0) return carve(size_class);
  const std::uint64_t number = list;
  list = header_of(number).next_free;
  return number;
}

std::uint64_t memory_heap::take_long(std::uint64_t bytes) noexcept {
  for (std::uint64_t* link = &free_[long_class]; *link != 0;) {
    allocation_header& header = header_of(*link);
    if (bytes <= header.capacity && header.capacity / 2 <= bytes) {
      return std::exchange(*link, header.next_free);
    }
    link = &header.next_free;
  }
  return 0;
}

std::uint64_t memory_heap::carve(unsigned size_class) noexcept {
  const std::uint64_t all = allocation_unit << size_class;
  if (all > open_end_ - open_at_) return 0;
  const std::uint64_t begin = open_at_ + allocation_unit;
  open_at_ += all;
  const std::uint64_t number = std::uint64_t{open_segment_} << 32 | begin / allocation_unit;
  auto* const header = new (&header_of(number)) allocation_header;
  header->size_class = size_class;
  header->capacity = all - allocation_unit;
  return number;
}

// Adds a segment, outside the lock since that takes long. Another thread may take the memory that
// it brings; allocate() then tries again.
void memory_heap::add_segment(unsigned size_class, std::uint64_t bytes) {
  const bool is_long = size_class == long_class;
  const std::uint64_t wanted = is_long ? rounded(bytes, page) : segment_bytes;
  auto made = std::make_unique<entry>();
  made->segment =
      shared_ != nullptr ? shared_->make_segment(wanted) : comm::make_private_segment(wanted);
  const std::uint64_t length = made->segment->memory().size();
  std::uint32_t number = 0;
  {
    const std::scoped_lock guard(lock_);
    if (next_segment_ == UINT32_MAX) throw std::bad_alloc();
    number = next_segment_++;
  }
  segments_.set(number, std::move(made));
  const std::scoped_lock guard(lock_);
  if (!is_long) {
    open_segment_ = number;
    open_at_ = 0;
    open_end_ = length;
    return;
  }
  const std::uint64_t allocation = std::uint64_t{number} << 32 | 1;
  auto* const header = new (&header_of(allocation)) allocation_header;
  header->size_class = long_class;
  header->capacity = length - allocation_unit;
  header->next_free = std::exchange(free_[long_class], allocation);
}

access_failure memory_heap::release(const allocation_name& allocation) noexcept {
  comm::shared_segment* const in = segment(allocation.segment);
  if (in == nullptr) return {.fault = access_fault::no_allocation};
  const std::span<std::byte> memory = in->memory();
  const std::scoped_lock guard(lock_);
  if (auto failure = check_access(memory.data(), memory.size(), {allocation, 0, 0})) return failure;
  allocation_header& header = header_of(number_of(allocation));
  header.generation.store(0, base::relaxed);
  header.next_free = std::exchange(free_[header.size_class], number_of(allocation));
  return {};
}

}  // namespace apgas::inline v0::remote
