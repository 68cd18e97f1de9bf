// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <mutex>

#include <apgas/sync/task.hpp>
#include <apgas/sync/wait_queue.hpp>

namespace apgas::inline v0 {

namespace sync {

[[noreturn]] void throw_negative(const char* operation, std::ptrdiff_t given);

}  // namespace sync

// std::counting_semaphore for tasks: first come first served. Belongs to a place.
class semaphore {
 public:
  // Throws: illegal_operation for a negative number.
  explicit semaphore(std::ptrdiff_t units) : units_(units) {
    if (units < 0) sync::throw_negative("semaphore", units);
  }
  semaphore(const semaphore&) = delete;
  semaphore& operator=(const semaphore&) = delete;

  // Takes a unit, waits for one if there is none.
  // Throws: illegal_operation outside a task and inside an atomic section.
  // Context: task. May suspend and resume elsewhere.
  void acquire() {
    sync::suspendable_fiber("semaphore::acquire");
    if (try_acquire()) return;
    sync::queue_unless("semaphore::acquire", guard_, waiting_, [this] { return take(); });
  }

  // Context: any thread.
  [[nodiscard]] bool try_acquire() noexcept {
    std::lock_guard hold(guard_);
    return take();
  }

  // Gives units. Throws: illegal_operation for a negative number. Context: any thread.
  void release(std::ptrdiff_t units = 1) {
    if (units < 0) sync::throw_negative("semaphore::release", units);
    sync::wait_queue served;
    {
      std::lock_guard hold(guard_);
      for (units_ += units; units_ > 0 && !waiting_.empty(); --units_) served.push(*waiting_.pop());
    }
    sync::resume_all(served.take_all());
  }

 private:
  bool take() noexcept {
    if (units_ == 0) return false;
    --units_;
    return true;
  }

  base::spin_lock guard_;
  std::ptrdiff_t units_;
  sync::wait_queue waiting_;
};

}  // namespace apgas::inline v0
