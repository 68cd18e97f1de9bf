// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/base/spin_lock.hpp>
#include <apgas/scheduler/scheduler.hpp>

// Tasks and resumed fibers from outside the workers, first in, first out. Guarded by a lock;
// empty() is a hint for searching. Only loops take from it: what comes from outside never runs on
// top of another task.
namespace apgas::inline v0::scheduler {

class injector {
 public:
  // Context: any thread.
  void push(injected* work) noexcept {
    work->next = nullptr;
    lock_.lock();
    *(first_ == nullptr ? &first_ : &last_->next) = work;
    last_ = work;
    filled_.store(true, base::relaxed);
    lock_.unlock();
  }

  // Null when empty.
  injected* pop() noexcept {
    if (empty()) return nullptr;
    lock_.lock();
    injected* work = first_;
    if (work != nullptr) {
      first_ = work->next;
      filled_.store(first_ != nullptr, base::relaxed);
    }
    lock_.unlock();
    return work;
  }

  bool empty() const noexcept { return !filled_.load(base::relaxed); }

 private:
  base::spin_lock lock_;
  base::atomic<bool> filled_{false};
  injected* first_ = nullptr;
  injected* last_ = nullptr;
};

}  // namespace apgas::inline v0::scheduler
