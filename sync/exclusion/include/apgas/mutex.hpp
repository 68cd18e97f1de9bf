// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

#include <apgas/base/api.hpp>
#include <apgas/sync/task.hpp>
#include <apgas/sync/wait_queue.hpp>

namespace apgas::inline v0 {

namespace sync {

// Throws illegal_operation: the mutex is not locked.
APGAS_API [[noreturn]] void throw_not_locked();

}  // namespace sync

// std::mutex for tasks. A task that waits suspends and does not block its worker, and the holder
// may suspend while it holds the mutex. std::lock_guard, std::unique_lock and std::scoped_lock work
// with it. It is not recursive, and it belongs to its place.
//
// Waiting tasks are resumed first come first served. A task that calls lock() meanwhile may
// overtake the one that was just resumed, but only once: then the mutex is handed to the overtaken
// task directly. So no task starves, and a busy mutex does not stay unused at every turn until a
// task has been resumed.
//
// A task that acquires the mutex sees everything that its earlier holders wrote before they
// released it.
//
// Requires, when it is destroyed: it is not locked.
class mutex {
 public:
  // Makes an unlocked mutex. Throws nothing. Context: any thread, also outside apgas::run.
  mutex() = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  // Acquires the mutex; waits while another task holds it.
  // Throws: illegal_operation outside a task and inside `atomic` or `when`.
  // Context: task. May suspend and resume on another worker. Cost: about 6 ns if the mutex is free.
  void lock() {
    const scheduler::fiber& self = sync::suspendable_fiber("mutex::lock");
    if (try_lock()) return;
    if (sync::succeeds_soon(self, [this] { return free_.load(base::relaxed) && try_lock(); }))
      return;
    wait();
  }

  // Acquires the mutex if it is free, and returns whether it did. Context: any thread; does not
  // suspend.
  [[nodiscard]] bool try_lock() noexcept {
    std::lock_guard hold(guard_);
    return take();
  }

  // Releases the mutex and resumes the next waiting task.
  // Throws: illegal_operation if the mutex is not locked.
  // Context: any task, not necessarily the one that locked it; does not suspend.
  void unlock() {
    sync::queued_task* next = nullptr;
    {
      std::lock_guard hold(guard_);
      if (free_.load(base::relaxed)) [[unlikely]]
        sync::throw_not_locked();
      next = overtaken_.pop();  // if there is one, the mutex stays locked for it
      if (next == nullptr) {
        free_.store(true, base::relaxed);
        if (!waking_) next = waiting_.pop();
        waking_ = waking_ || next != nullptr;
      }
    }
    if (next != nullptr) scheduler::resume(next->task);
  }

 private:
  bool take() noexcept {
    const bool was_free = free_.load(base::relaxed);
    free_.store(false, base::relaxed);
    return was_free;
  }

  void wait() noexcept {
    bool mine = false;
    sync::queue_unless("mutex::lock", guard_, waiting_, [&] { return mine = take(); });
    if (mine) return;
    {
      std::lock_guard hold(guard_);
      waking_ = false;
      if (take()) return;
    }
    sync::queue_unless("mutex::lock", guard_, overtaken_, [this] { return take(); });
  }

  base::spin_lock guard_;
  base::atomic<bool> free_{true};  // written under guard_
  bool waking_ = false;            // a task that was resumed has not tried to lock yet
  sync::wait_queue waiting_;
  sync::wait_queue overtaken_;
};

}  // namespace apgas::inline v0
