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
// Passed on first come first served. Works with std::lock_guard, unique_lock and scoped_lock.
// Belongs to a place. Not recursive. Requires at its end: not locked.
class mutex {
 public:
  mutex() = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  // Throws: illegal_operation outside a task and inside an atomic section.
  // Context: task. May suspend and resume elsewhere. Cost: about 6 ns when free.
  void lock() {
    sync::suspendable_fiber("mutex::lock");
    if (try_lock()) return;
    sync::queue_unless(guard_, waiting_, [this] { return take(); });
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
      if (!locked_) [[unlikely]]
        sync::throw_not_locked();
      next = waiting_.pop();
      locked_ = next != nullptr;
    }
    if (next != nullptr) scheduler::resume(next->task);
  }

 private:
  bool take() noexcept {
    const bool was_free = !locked_;
    locked_ = true;
    return was_free;
  }

  base::spin_lock guard_;
  bool locked_ = false;
  sync::wait_queue waiting_;
};

}  // namespace apgas::inline v0
