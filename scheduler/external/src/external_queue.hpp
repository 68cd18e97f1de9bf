// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include <apgas/base/spin_lock.hpp>
#include <apgas/scheduler/scheduler.hpp>

// The queue of external tasks, first in, first out. A lock protects it; the result of empty() may
// be out of date. Only scheduling loops take tasks from it, so an external task never runs on top
// of another task.
namespace apgas::inline v0::scheduler {

class external_queue {
 public:
  // Appends a task. Context: any thread.
  void push(external_task* work) noexcept {
    work->next = nullptr;
    lock_.lock();
    *(first_ == nullptr ? &first_ : &last_->next) = work;
    last_ = work;
    filled_.store(true, base::relaxed);
    lock_.unlock();
  }

  // Removes and returns the first task; null if there is none. Context: any thread.
  external_task* pop() noexcept {
    if (empty()) return nullptr;
    lock_.lock();
    external_task* work = first_;
    if (work != nullptr) {
      first_ = work->next;
      filled_.store(first_ != nullptr, base::relaxed);
    }
    lock_.unlock();
    return work;
  }

  // For a seeded schedule, which may choose any task: how many there are; and removes and returns
  // the n-th, or null if there are not so many.
  // Context: any thread.
  std::size_t size() noexcept {
    lock_.lock();
    std::size_t n = 0;
    for (const external_task* t = first_; t != nullptr; t = t->next) ++n;
    lock_.unlock();
    return n;
  }
  external_task* take(std::size_t n) noexcept {
    lock_.lock();
    external_task* before = nullptr;
    external_task* work = first_;
    for (; work != nullptr && n != 0; --n) before = std::exchange(work, work->next);
    if (work != nullptr) {
      (before == nullptr ? first_ : before->next) = work->next;
      if (last_ == work) last_ = before;
      filled_.store(first_ != nullptr, base::relaxed);
    }
    lock_.unlock();
    return work;
  }

  bool empty() const noexcept { return !filled_.load(base::relaxed); }

 private:
  base::spin_lock lock_;
  base::atomic<bool> filled_{false};
  external_task* first_ = nullptr;
  external_task* last_ = nullptr;
};

}  // namespace apgas::inline v0::scheduler
