// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/base/spin_lock.hpp>
#include <apgas/scheduler/fiber.hpp>

// Resumed fibers, first in, first out. Guarded by a lock; empty() is a hint for searching.
//
//   size_   written under the lock, read by anybody
namespace apgas::inline v0::scheduler {

class ready_queue {
 public:
  // Context: any thread.
  void push(fiber* f) noexcept {
    f->next = nullptr;
    lock_.lock();
    *(first_ == nullptr ? &first_ : &last_->next) = f;
    last_ = f;
    size_.store(size_.load(base::relaxed) + 1, base::relaxed);
    lock_.unlock();
  }

  // Null when empty.
  fiber* pop() noexcept {
    if (empty()) return nullptr;
    lock_.lock();
    fiber* f = first_;
    if (f != nullptr) {
      first_ = f->next;
      size_.store(size_.load(base::relaxed) - 1, base::relaxed);
    }
    lock_.unlock();
    return f;
  }

  bool empty() const noexcept { return size_.load(base::relaxed) == 0; }

 private:
  base::spin_lock lock_;
  base::atomic<std::size_t> size_{0};
  fiber* first_ = nullptr;
  fiber* last_ = nullptr;
};

}  // namespace apgas::inline v0::scheduler
