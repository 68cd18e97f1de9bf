// SPDX-License-Identifier: Apache-2.0
#pragma once

// The memory of messages: blocks of bytes, pooled by size.
//
//   buffer          owns a block alone, while it is filled, sent and received
//   inbound_buffer  the same block once it is received: shared by counting, so that a payload can
//                   live on until the task that decodes it is done
//   buffer_pool     where blocks come from and return to; one per transport, outlives its blocks
//
// A block that is retained keeps all of its bytes: whoever keeps a small payload for long copies
// it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <apgas/base/atomic.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/rank.hpp>

namespace apgas::inline v0::comm {

class buffer;
class buffer_pool;

// One block. The bytes follow this object.
//
// Pairs
//   P1  a release publishes its holder's use of the bytes to the release that frees the block.
class alignas(64) inbound_buffer {
 public:
  std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  const std::byte* data() const noexcept { return reinterpret_cast<const std::byte*>(this + 1); }
  std::size_t size() const noexcept { return size_; }
  std::size_t capacity() const noexcept { return capacity_; }

  // Requires: the caller holds a reference. Context: any thread.
  void retain(std::uint32_t count = 1) noexcept { references_.fetch_add(count, base::relaxed); }
  // Context: any thread; the block may be gone afterwards.
  void release() noexcept {
    // The holder of the only reference needs no read-modify-write.
    if (references_.load(base::acquire) == 1 ||          // P1
        references_.fetch_sub(1, base::acq_rel) == 1) {  // P1
      destroy();
    }
  }

 private:
  friend class buffer;
  friend class buffer_pool;
  friend class message_chain;

  explicit inbound_buffer(std::size_t capacity) noexcept : capacity_(capacity) {}
  static inbound_buffer* allocate(std::size_t capacity);
  void destroy() noexcept;

  base::atomic<std::uint32_t> references_{1};
  rank peer_ = 0;  // in a queue of messages: where to, or where from
  std::size_t size_ = 0;
  std::size_t capacity_;
  buffer_pool* pool_ = nullptr;     // nullptr: straight from the heap
  inbound_buffer* next_ = nullptr;  // in a queue of messages or in the pool
};
static_assert(sizeof(inbound_buffer) == 64);

// Sole owner of a block, or of nothing.
class buffer {
 public:
  buffer() noexcept = default;
  // A block from the heap, in no pool. Throws: std::bad_alloc.
  explicit buffer(std::size_t capacity) : block_(inbound_buffer::allocate(capacity)) {}
  buffer(buffer&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  buffer& operator=(buffer&& other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~buffer() {
    if (block_) block_->release();
  }

  explicit operator bool() const noexcept { return block_ != nullptr; }
  std::byte* data() noexcept { return block_->data(); }
  const std::byte* data() const noexcept { return block_->data(); }
  std::size_t size() const noexcept { return block_->size_; }
  std::size_t capacity() const noexcept { return block_->capacity_; }
  // Requires: bytes <= capacity().
  void resize(std::size_t bytes) noexcept { block_->size_ = bytes; }

  // Hands over the reference.
  inbound_buffer* detach() noexcept { return std::exchange(block_, nullptr); }
  // Takes it over. Requires: nobody else has one.
  static buffer attach(inbound_buffer* block) noexcept {
    buffer result;
    result.block_ = block;
    return result;
  }

 private:
  inbound_buffer* block_ = nullptr;
};

// Gives blocks and keeps those that come back for the next time. Blocks of the common sizes are
// kept, up to a bound; others go back to the heap.
class buffer_pool {
 public:
  buffer_pool() noexcept = default;
  buffer_pool(const buffer_pool&) = delete;
  buffer_pool& operator=(const buffer_pool&) = delete;
  // Requires: outstanding() == 0.
  ~buffer_pool();

  // A block with at least that capacity, size() 0. Throws: std::bad_alloc.
  // Context: any thread. Cost: one short lock; no allocation in steady state.
  buffer get(std::size_t capacity);

  // Counts a block from the heap as one of this pool from now on.
  void adopt(buffer& block) noexcept;

  // Blocks given and not come back: the leak counter.
  std::size_t outstanding() noexcept;

  // With the block itself sizes that are kept (block_cache.hpp).
  static constexpr std::size_t small_bytes = 320 - sizeof(inbound_buffer);
  static constexpr std::size_t medium_bytes = 2560 - sizeof(inbound_buffer);
  static constexpr std::size_t large_bytes = 20480 - sizeof(inbound_buffer);

 private:
  friend class inbound_buffer;

  static constexpr std::size_t sizes[] = {small_bytes, medium_bytes, large_bytes};
  static constexpr std::size_t kept_bytes = std::size_t{16} << 20;  // at most, of each size

  struct alignas(64) shelf {
    base::spin_lock lock;
    inbound_buffer* first = nullptr;
    std::size_t count = 0;
    std::size_t given = 0;  // and not come back
  };

  // The index of the shelf with such blocks, or that a block belongs to; -1: none.
  static int shelf_for(std::size_t capacity) noexcept;
  static int shelf_of(const inbound_buffer& block) noexcept;
  void put(inbound_buffer* block) noexcept;

  shelf shelves_[3];
  base::atomic<std::size_t> others_{0};  // given and not come back, of sizes that are not kept
};

}  // namespace apgas::inline v0::comm
