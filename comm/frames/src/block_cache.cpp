// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <mutex>
#include <new>
#include <utility>

#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/buffer.hpp>

#include "block_cache.hpp"

namespace apgas::inline v0::comm {
namespace {

constexpr std::size_t least = 256;
constexpr std::size_t largest = std::size_t{8} << 20;
constexpr int first_octave = std::countr_zero(least);
constexpr int octaves = std::countr_zero(largest) - first_octave;
constexpr std::size_t steps = 4;  // sizes for each doubling

struct free_block {
  free_block* next;
};

struct shelf {
  base::spin_lock lock;
  free_block* first = nullptr;
};

struct cache {
  shelf shelves[octaves * steps];
  base::atomic<std::size_t> bytes{0};  // a bound, exact when nobody is at it
};

// Never destroyed: static objects of the program may hold messages.
cache& the_cache() {
  static auto* const c = new cache;
  return *c;
}

int octave_of(std::size_t bytes) noexcept {
  return static_cast<int>(std::bit_width(bytes - 1)) - 1;
}

// Requires: `bytes` is a size of cached_block_bytes(), and such blocks are kept.
shelf& shelf_of(std::size_t bytes) noexcept {
  const int octave = octave_of(bytes);
  const std::size_t step = (bytes >> (octave - 2)) - steps;  // 1 to 4
  return the_cache().shelves[static_cast<std::size_t>(octave - first_octave) * steps + step - 1];
}

}  // namespace

std::size_t cached_block_bytes(std::size_t bytes) noexcept {
  if (bytes > largest) return bytes;
  bytes = std::max(bytes, least + 1);
  const std::size_t step = std::size_t{1} << (octave_of(bytes) - 2);
  return (bytes + step - 1) & ~(step - 1);
}

void* take_cached_block(std::size_t bytes) {
  if (bytes <= largest) {
    shelf& from = shelf_of(bytes);
    const std::scoped_lock guard(from.lock);
    if (from.first != nullptr) {
      the_cache().bytes.fetch_sub(bytes, base::relaxed);
      return std::exchange(from.first, from.first->next);
    }
  }
  return ::operator new(bytes, std::align_val_t{alignof(inbound_buffer)});
}

void cache_block(void* block, std::size_t bytes) noexcept {
  if (bytes <= largest) {
    cache& c = the_cache();
    if (c.bytes.fetch_add(bytes, base::relaxed) + bytes <= kept_bytes_max) {
      shelf& to = shelf_of(bytes);
      const std::scoped_lock guard(to.lock);
      to.first = ::new (block) free_block{to.first};
      return;
    }
    c.bytes.fetch_sub(bytes, base::relaxed);
  }
  ::operator delete(block, std::align_val_t{alignof(inbound_buffer)});
}

std::size_t bytes_kept() noexcept { return the_cache().bytes.load(base::relaxed); }

}  // namespace apgas::inline v0::comm
