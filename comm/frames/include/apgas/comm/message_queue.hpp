// SPDX-License-Identifier: Apache-2.0
#pragma once

// A FIFO queue of messages, each with the rank that it goes to or came from. Any thread may push;
// one thread at a time takes all messages.

#include <cstddef>
#include <utility>

#include <apgas/base/atomic.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/buffer.hpp>
#include <apgas/comm/rank.hpp>

namespace apgas::inline v0::comm {

// A list of messages that belongs to one thread.
class message_chain {
 public:
  message_chain() noexcept = default;
  message_chain(message_chain&& other) noexcept
      : first_(std::exchange(other.first_, nullptr)), last_(std::exchange(other.last_, nullptr)) {}
  message_chain& operator=(message_chain&& other) noexcept {
    std::swap(first_, other.first_);
    std::swap(last_, other.last_);
    return *this;
  }
  ~message_chain();

  bool empty() const noexcept { return first_ == nullptr; }
  void push_back(rank peer, buffer message) noexcept;
  // The peer of the first message, its size in bytes, and the message itself.
  // Requires: !empty().
  rank front_peer() const noexcept;
  std::size_t front_bytes() const noexcept { return first_->size(); }
  buffer pop_front() noexcept;

 private:
  inbound_buffer* first_ = nullptr;
  inbound_buffer* last_ = nullptr;
};

class message_queue {
 public:
  // Context: any thread.
  void push(rank peer, buffer message) noexcept {
    lock_.lock();
    chain_.push_back(peer, std::move(message));
    filled_.store(true, base::relaxed);
    lock_.unlock();
  }

  // Whether the queue was non-empty, read without the lock. It orders no other memory access.
  bool maybe_filled() const noexcept { return filled_.load(base::relaxed); }

  message_chain take_all() noexcept {
    lock_.lock();
    message_chain taken = std::move(chain_);
    filled_.store(false, base::relaxed);
    lock_.unlock();
    return taken;
  }

 private:
  base::spin_lock lock_;
  message_chain chain_;
  base::atomic<bool> filled_{false};
};

}  // namespace apgas::inline v0::comm
