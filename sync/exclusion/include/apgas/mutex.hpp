// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

#include <apgas/sync/task.hpp>
#include <apgas/sync/wait_queue.hpp>

namespace apgas::inline v0 {

namespace sync {

[[noreturn]] void throw_not_locked();

}  // namespace sync

// std::mutex for tasks: a task that waits does not block its worker, and the holder may suspend.
// Works with std::lock_guard, unique_lock and scoped_lock. Belongs to a place. Not recursive.
// Requires at its end: not locked.
//
// Tasks that wait are woken first come first served. A task that comes meanwhile may overtake the
// one just woken, once: then the mutex is passed on to that one directly. So nobody starves, and a
// busy mutex need not wait for a task to be resumed at every turn.
class mutex {
 public:
  mutex() = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  // Throws: illegal_operation outside a task and inside an atomic section.
  // Context: task. May suspend and resume elsewhere. Cost: about 6 ns when free.
  void lock() {
    const scheduler::fiber& self = sync::suspendable_fiber("mutex::lock");
    if (try_lock()) return;
    if (sync::succeeds_soon(self, [this] { return free_.load(base::relaxed) && try_lock(); }))
      return;
    wait();
  }

  // Context: any thread.
  [[nodiscard]] bool try_lock() noexcept {
    std::lock_guard hold(guard_);
    return take();
  }

  // Throws: illegal_operation when it is not locked. Context: any task, also another than locked
  // it.
  void unlock() {
    sync::queued_task* next = nullptr;
    {
      std::lock_guard hold(guard_);
      if (free_.load(base::relaxed)) [[unlikely]]
        sync::throw_not_locked();
      next = overtaken_.pop();  // it stays locked for that one
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
  base::atomic<bool> free_{true};  // written under the guard
  bool waking_ = false;            // one that was woken has not tried yet
  sync::wait_queue waiting_;
  sync::wait_queue overtaken_;
};

}  // namespace apgas::inline v0
