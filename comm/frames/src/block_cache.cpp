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
constexpr std::size_t steps = 4;  // sizes per power of two

struct free_block {
  free_block* next;
};

struct free_list {
  base::spin_lock lock;
  free_block* first = nullptr;
};

struct cache {
  free_list lists[octaves * steps];
  base::atomic<std::size_t> bytes{0};  // may be too high while another thread updates it
};

// Never destroyed, since static objects of the program may still hold messages at exit.
cache& the_cache() {
  static auto* const c = new cache;
  return *c;
}

int octave_of(std::size_t bytes) noexcept {
  return static_cast<int>(std::bit_width(bytes - 1)) - 1;
}

// Requires: `bytes` was returned by cached_block_bytes() and is at most `largest`.
free_list& list_of(std::size_t bytes) noexcept {
  const int octave = octave_of(bytes);
  const std::size_t step = (bytes >> (octave - 2)) - steps;  // 1 to 4
  return the_cache().lists[static_cast<std::size_t>(octave - first_octave) * steps + step - 1];
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
    free_list& from = list_of(bytes);
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
      free_list& to = list_of(bytes);
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
