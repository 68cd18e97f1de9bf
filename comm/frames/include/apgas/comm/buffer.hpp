// SPDX-License-Identifier: Apache-2.0
#pragma once

// Buffers that hold messages, and the pool which recycles them.
//
//   buffer          owns one buffer exclusively, while a message is filled, sent and received
//   inbound_buffer  the same memory after it was received: reference-counted, so that a payload
//                   stays valid until the task that decodes it has finished
//   buffer_pool     hands out buffers and takes them back; a transport has one, and the pool
//                   outlives its buffers
//
// A retained inbound_buffer keeps the memory of the whole message alive. Code that needs a small
// payload for a long time copies it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <apgas/base/api.hpp>
#include <apgas/base/atomic.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/rank.hpp>

namespace apgas::inline v0::comm {

class buffer;
class buffer_pool;

// A reference-counted buffer. Its bytes follow this object in memory.
//
// Pairs
//   P1  A release of a reference makes its holder's accesses to the bytes visible to the thread
//       that releases the last reference and frees the buffer, or hands it out again.
class alignas(64) inbound_buffer {
 public:
  std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  const std::byte* data() const noexcept { return reinterpret_cast<const std::byte*>(this + 1); }
  std::size_t size() const noexcept { return size_; }
  std::size_t capacity() const noexcept { return capacity_; }

  // Adds `count` references.
  // Requires: the caller holds a reference.
  // Context: any thread.
  void retain(std::uint32_t count = 1) noexcept { references_.fetch_add(count, base::relaxed); }
  // Gives up `count` references, at least one.
  // Context: any thread.
  void release(std::uint32_t count) noexcept {
    if (references_.fetch_sub(count, base::acq_rel) == count) destroy();  // P1
  }
  // Gives up one reference. The last one returns the buffer to its pool, or to the heap, so the
  // caller must not use it afterwards.
  // Context: any thread.
  void release() noexcept {
    // The holder of the only reference needs no atomic read-modify-write.
    if (references_.load(base::acquire) == 1 ||          // P1
        references_.fetch_sub(1, base::acq_rel) == 1) {  // P1
      destroy();
    }
  }

 private:
  friend class buffer;
  friend class buffer_pool;
  friend class message_chain;
  friend class reusable_buffer;

  // Whether this is the buffer of a reusable_buffer, and whether it has been handed out.
  enum reuse : std::uint8_t { not_reusable, unused, used };

  explicit inbound_buffer(std::size_t capacity) noexcept : capacity_(capacity) {}
  static inbound_buffer* allocate(std::size_t capacity);
  APGAS_API void destroy() noexcept;

  base::atomic<std::uint32_t> references_{1};
  rank peer_ = 0;  // while queued: the rank the message goes to or came from
  std::size_t size_ = 0;
  std::size_t capacity_;
  buffer_pool* pool_ = nullptr;                     // nullptr: allocated from the heap
  base::atomic<std::uint8_t> reuse_{not_reusable};  // written when the last reference is given up
  inbound_buffer* next_ = nullptr;                  // while in a message_chain or a free list
};
static_assert(sizeof(inbound_buffer) == 64);

// Exclusive owner of one buffer, or empty.
class buffer {
 public:
  buffer() noexcept = default;
  // Allocates a buffer of at least `capacity` bytes that belongs to no pool.
  // Throws: std::bad_alloc.
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

  // Gives up ownership and returns the reference, which the caller must release.
  inbound_buffer* detach() noexcept { return std::exchange(block_, nullptr); }
  // Takes ownership of `block`.
  // Requires: the caller's reference is the only one.
  static buffer attach(inbound_buffer* block) noexcept {
    buffer result;
    result.block_ = block;
    return result;
  }

 private:
  inbound_buffer* block_ = nullptr;
};

// One buffer that its owner hands out again and again, without a lock or an atomic
// read-modify-write.
class reusable_buffer {
 public:
  // Throws: std::bad_alloc.
  explicit reusable_buffer(std::size_t capacity);
  reusable_buffer(const reusable_buffer&) = delete;
  reusable_buffer& operator=(const reusable_buffer&) = delete;
  // Requires: the buffer is not in use.
  ~reusable_buffer();

  // Returns the buffer, or nothing while it is in use.
  // Context: one thread at a time.
  buffer take() noexcept {
    if (block_->reuse_.load(base::acquire) != inbound_buffer::unused) return {};  // P1
    block_->reuse_.store(inbound_buffer::used, base::relaxed);
    block_->references_.store(1, base::relaxed);
    block_->size_ = 0;
    return buffer::attach(block_);
  }

 private:
  inbound_buffer* const block_;
};

// Hands out buffers and recycles the ones that are returned. Buffers of the three common sizes are
// recycled, up to `kept_bytes` of each size; all others go back to the heap.
class buffer_pool {
 public:
  buffer_pool() noexcept = default;
  buffer_pool(const buffer_pool&) = delete;
  buffer_pool& operator=(const buffer_pool&) = delete;
  // Requires: outstanding() == 0.
  ~buffer_pool();

  // Returns an empty buffer of at least `capacity` bytes.
  // Throws: std::bad_alloc.
  // Context: any thread.
  // Cost: one short lock; no allocation in steady state.
  buffer get(std::size_t capacity);

  // Makes a buffer that was allocated from the heap one of this pool.
  void adopt(buffer& block) noexcept;

  // The number of buffers that were handed out and have not been returned. A test of leaks checks
  // that it is 0.
  std::size_t outstanding() noexcept;

  // Capacities of the recycled sizes. Together with the header they are sizes that the block cache
  // keeps (block_cache.hpp).
  static constexpr std::size_t small_bytes = 320 - sizeof(inbound_buffer);
  static constexpr std::size_t medium_bytes = 2560 - sizeof(inbound_buffer);
  static constexpr std::size_t large_bytes = 20480 - sizeof(inbound_buffer);

 private:
  friend class inbound_buffer;

  static constexpr std::size_t sizes[] = {small_bytes, medium_bytes, large_bytes};
  static constexpr std::size_t kept_bytes = std::size_t{16} << 20;  // upper limit for each size

  struct alignas(64) free_list {
    base::spin_lock lock;
    inbound_buffer* first = nullptr;
    std::size_t count = 0;
    std::size_t in_use = 0;  // handed out and not returned
  };

  // The index of the free list that serves a capacity, or that a buffer returns to; -1 if its size
  // is not recycled.
  static int list_for(std::size_t capacity) noexcept;
  static int list_of(const inbound_buffer& block) noexcept;
  void put(inbound_buffer* block) noexcept;

  free_list free_lists_[3];
  base::atomic<std::size_t> others_{0};  // buffers in use whose size is not recycled
};

}  // namespace apgas::inline v0::comm
