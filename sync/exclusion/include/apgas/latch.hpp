// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <mutex>

#include <apgas/semaphore.hpp>

namespace apgas::inline v0 {

namespace sync {

[[noreturn]] void throw_latch_below_zero(std::ptrdiff_t left, std::ptrdiff_t given);

}  // namespace sync

// std::latch for tasks: a countdown that is used once. Belongs to a place.
class latch {
 public:
  // Throws: illegal_operation for a negative number.
  explicit latch(std::ptrdiff_t expected) : left_(expected) {
    if (expected < 0) sync::throw_negative("latch", expected);
  }
  latch(const latch&) = delete;
  latch& operator=(const latch&) = delete;

  // Throws: illegal_operation for a negative number or more than is left. Context: any thread.
  void count_down(std::ptrdiff_t n = 1) {
    if (n < 0) sync::throw_negative("latch::count_down", n);
    sync::queued_task* released = nullptr;
    {
      std::lock_guard hold(guard_);
      if (n > left_) [[unlikely]]
        sync::throw_latch_below_zero(left_, n);
      left_ -= n;
      if (left_ == 0) released = waiting_.take_all();
    }
    sync::resume_all(released);
  }

  // Whether all was counted down. Context: any thread.
  [[nodiscard]] bool try_wait() noexcept {
    std::lock_guard hold(guard_);
    return left_ == 0;
  }

  // Throws: illegal_operation outside a task and inside an atomic section.
  // Context: task. May suspend and resume elsewhere. The latch may end when it returns.
  void wait() {
    sync::suspendable_fiber("latch::wait");
    if (try_wait()) return;
    sync::queue_unless("latch::wait", guard_, waiting_, [this] { return left_ == 0; });
  }

  void arrive_and_wait(std::ptrdiff_t n = 1) {
    sync::suspendable_fiber("latch::arrive_and_wait");
    count_down(n);
    wait();
  }

 private:
  base::spin_lock guard_;
  std::ptrdiff_t left_;
  sync::wait_queue waiting_;
};

}  // namespace apgas::inline v0
