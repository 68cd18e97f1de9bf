// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "awaited_end.hpp"

namespace apgas::inline v0::launch {

int awaited_end::wait_in_task() {
  {
    std::lock_guard guard(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  scheduler::suspend(nullptr, [this](scheduler::fiber* task) { park(task); });
  std::lock_guard guard(mutex_);
  return code_.value();
}

void awaited_end::park(scheduler::fiber* task) {
  {
    std::lock_guard guard(mutex_);
    if (!code_.has_value()) {
      task_ = task;
      return;
    }
  }
  scheduler::resume(task);
}

void awaited_end::wait_until_open() {
  std::unique_lock lock(mutex_);
  opened_.wait(lock, [this] { return open_; });
}

void awaited_end::end(int code) {
  scheduler::fiber* task = nullptr;
  {
    std::lock_guard guard(mutex_);
    code_ = code;
    task = std::exchange(task_, nullptr);
  }
  if (task != nullptr) scheduler::resume(task);
}

}  // namespace apgas::inline v0::launch
