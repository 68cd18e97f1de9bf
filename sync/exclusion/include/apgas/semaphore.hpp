// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <mutex>

#include <apgas/base/api.hpp>
#include <apgas/sync/task.hpp>
#include <apgas/sync/wait_queue.hpp>

namespace apgas::inline v0 {

namespace sync {

// Throws illegal_operation: `operation` was given a negative number.
APGAS_API [[noreturn]] void throw_negative(const char* operation, std::ptrdiff_t given);

}  // namespace sync

// A counting semaphore for tasks, first come first served: acquire() takes a permit and release()
// returns some. std::counting_semaphore for tasks. It belongs to its place. A task that takes a
// permit sees everything that was written before the release() which returned it.
//
// Requires, when it is destroyed: no task waits for it.
class semaphore {
 public:
  // Starts with `permits` permits. Throws: illegal_operation if the number is negative. Context:
  // any thread.
  explicit semaphore(std::ptrdiff_t permits) : permits_(permits) {
    if (permits < 0) sync::throw_negative("semaphore", permits);
  }
  semaphore(const semaphore&) = delete;
  semaphore& operator=(const semaphore&) = delete;

  // Takes a permit; waits if there is none.
  // Throws: illegal_operation outside a task and inside `atomic` or `when`.
  // Context: task. May suspend and resume on another worker.
  void acquire() {
    sync::suspendable_fiber("semaphore::acquire");
    if (try_acquire()) return;
    sync::queue_unless("semaphore::acquire", guard_, waiting_, [this] { return take(); });
  }

  // Takes a permit if there is one, and returns whether there was. Context: any thread; does not
  // suspend.
  [[nodiscard]] bool try_acquire() noexcept {
    std::lock_guard hold(guard_);
    return take();
  }

  // Adds permits and hands them to waiting tasks, which resume. Throws: illegal_operation if the
  // number is negative. Context: any thread; does not suspend. Cost: one short lock.
  void release(std::ptrdiff_t permits = 1) {
    if (permits < 0) sync::throw_negative("semaphore::release", permits);
    sync::wait_queue served;
    {
      std::lock_guard hold(guard_);
      for (permits_ += permits; permits_ > 0 && !waiting_.empty(); --permits_)
        served.push(*waiting_.pop());
    }
    sync::resume_all(served.take_all());
  }

 private:
  bool take() noexcept {
    if (permits_ == 0) return false;
    --permits_;
    return true;
  }

  base::spin_lock guard_;
  std::ptrdiff_t permits_;
  sync::wait_queue waiting_;
};

}  // namespace apgas::inline v0
