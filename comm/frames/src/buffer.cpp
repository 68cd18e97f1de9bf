// SPDX-License-Identifier: Apache-2.0

// Buffers, their pool, and message_chain.

#include <apgas/comm/buffer.hpp>

#include <mutex>
#include <new>
#include <utility>

#include <apgas/base/assert.hpp>
#include <apgas/comm/message_queue.hpp>

#include "block_cache.hpp"

namespace apgas::inline v0::comm {

inbound_buffer* inbound_buffer::allocate(std::size_t capacity) {
  const std::size_t bytes = cached_block_bytes(sizeof(inbound_buffer) + capacity);
  return new (take_cached_block(bytes)) inbound_buffer(bytes - sizeof(inbound_buffer));
}

void inbound_buffer::destroy() noexcept {
  if (reuse_.load(base::relaxed) != not_reusable) {
    reuse_.store(unused, base::release);  // P1
  } else if (pool_) {
    pool_->put(this);
  } else {
    const std::size_t bytes = sizeof(inbound_buffer) + capacity_;
    this->~inbound_buffer();
    cache_block(this, bytes);
  }
}

reusable_buffer::reusable_buffer(std::size_t capacity)
    : block_(inbound_buffer::allocate(capacity)) {
  block_->reuse_.store(inbound_buffer::unused, base::relaxed);
}

reusable_buffer::~reusable_buffer() {
  APGAS_ASSERT(block_->reuse_.load(base::acquire) == inbound_buffer::unused,  // P1
               "a buffer is still in use");
  block_->reuse_.store(inbound_buffer::not_reusable, base::relaxed);
  block_->destroy();
}

int buffer_pool::list_for(std::size_t capacity) noexcept {
  if (capacity <= small_bytes) return 0;
  if (capacity <= medium_bytes) return 1;
  return capacity <= large_bytes ? 2 : -1;
}

int buffer_pool::list_of(const inbound_buffer& block) noexcept {
  const int index = list_for(block.capacity_);
  return index >= 0 && block.capacity_ == sizes[index] ? index : -1;
}

buffer buffer_pool::get(std::size_t capacity) {
  const int index = list_for(capacity);
  inbound_buffer* block = nullptr;
  if (index >= 0) {
    free_list& from = free_lists_[index];
    const std::scoped_lock guard(from.lock);
    block = from.first;
    if (!block) {
      block = inbound_buffer::allocate(sizes[index]);
      block->pool_ = this;
    } else {
      from.first = block->next_;
      --from.count;
    }
    ++from.in_use;
  } else {
    block = inbound_buffer::allocate(capacity);
    block->pool_ = this;
    others_.fetch_add(1, base::relaxed);
  }
  return buffer::attach(block);
}

void buffer_pool::adopt(buffer& block) noexcept {
  inbound_buffer* raw = block.detach();
  APGAS_ASSERT(raw->pool_ == nullptr);
  raw->pool_ = this;
  if (const int index = list_of(*raw); index >= 0) {
    const std::scoped_lock guard(free_lists_[index].lock);
    ++free_lists_[index].in_use;
  } else {
    others_.fetch_add(1, base::relaxed);
  }
  block = buffer::attach(raw);
}

// A buffer in a free list has one reference and no bytes, as its next user expects it.
void buffer_pool::put(inbound_buffer* block) noexcept {
  const int index = list_of(*block);
  if (index < 0) {
    const std::size_t before = others_.fetch_sub(1, base::relaxed);
    APGAS_ASSERT(before > 0, "a buffer was returned twice");
  } else {
    block->references_.store(1, base::relaxed);
    block->size_ = 0;
    free_list& to = free_lists_[index];
    const std::scoped_lock guard(to.lock);
    APGAS_ASSERT(to.in_use > 0, "a buffer was returned twice");
    --to.in_use;
    if (to.count < kept_bytes / sizes[index]) {
      block->next_ = to.first;
      to.first = block;
      ++to.count;
      return;
    }
  }
  block->pool_ = nullptr;
  block->destroy();
}

std::size_t buffer_pool::outstanding() noexcept {
  std::size_t sum = others_.load(base::relaxed);
  for (free_list& each : free_lists_) {
    const std::scoped_lock guard(each.lock);
    sum += each.in_use;
  }
  return sum;
}

buffer_pool::~buffer_pool() {
  APGAS_ASSERT(outstanding() == 0, "message buffers are still in use");
  for (free_list& each : free_lists_) {
    while (each.first) {
      inbound_buffer* block = std::exchange(each.first, each.first->next_);
      block->pool_ = nullptr;
      block->destroy();
    }
  }
}

message_chain::~message_chain() {
  while (!empty()) pop_front();
}

void message_chain::push_back(rank peer, buffer message) noexcept {
  inbound_buffer* block = message.detach();
  block->peer_ = peer;
  block->next_ = nullptr;
  if (last_) {
    last_->next_ = block;
  } else {
    first_ = block;
  }
  last_ = block;
}

rank message_chain::front_peer() const noexcept { return first_->peer_; }

buffer message_chain::pop_front() noexcept {
  inbound_buffer* block = first_;
  first_ = block->next_;
  if (!first_) last_ = nullptr;
  return buffer::attach(block);
}

}  // namespace apgas::inline v0::comm
