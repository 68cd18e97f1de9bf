// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <apgas/sync/place_state.hpp>

namespace apgas::inline v0::launch {

// Lets a task compute a value for a thread that is no worker, such as one that asks all places. One
// task at a time: the value of a task that was late is lost.
template <class Value>
class asked_task {
 public:
  // `compute` runs as a task at `place`, which is that of this process.
  asked_task(sync::place_state& place, Value (*compute)()) : place_(place), compute_(compute) {}
  asked_task(const asked_task&) = delete;
  asked_task& operator=(const asked_task&) = delete;

  // Returns the value, or nothing if it is not there after `patience`, if an earlier task still
  // computes, or after close(). Throws: what `compute` throws.
  // Context: a thread that is no worker; one at a time.
  std::optional<Value> ask(std::chrono::milliseconds patience) {
    const std::shared_ptr<question> now = start();
    if (now == nullptr || !now->wait(patience)) return std::nullopt;
    return now->take();
  }
  // The same, however long it takes. Requires: close() was not called.
  Value ask() {
    wait();
    const std::shared_ptr<question> now = start();
    now->wait(std::nullopt);
    return now->take();
  }

  // Waits for a task that still computes. Must be called before the place ends.
  void wait() {
    if (const std::shared_ptr<question> last = last_asked()) last->wait(std::nullopt);
  }
  // The same; and no other task is started afterwards. Context: any thread that is no worker.
  void close() {
    {
      const std::lock_guard guard(mutex_);
      closed_ = true;
    }
    wait();
  }

 private:
  // Shared by the thread that waits and the task.
  struct question {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    std::optional<Value> value;
    std::exception_ptr error;

    bool wait(std::optional<std::chrono::milliseconds> patience) {
      std::unique_lock lock(mutex);
      const auto is_done = [this] { return done; };
      if (patience) return changed.wait_for(lock, *patience, is_done);
      changed.wait(lock, is_done);
      return true;
    }
    Value take() {
      if (error != nullptr) std::rethrow_exception(error);
      return std::move(*value);
    }
  };

  struct task : scheduler::external_task {
    task(std::shared_ptr<question> q, Value (*f)())
        : external_task{.run = run_task}, asked(std::move(q)), compute(f) {}

    static scheduler::task_counter* run_task(external_task* work, scheduler::fiber&) noexcept {
      const std::unique_ptr<task> self(static_cast<task*>(work));
      question& to = *self->asked;
      std::optional<Value> value;
      std::exception_ptr error;
      try {
        value = self->compute();
      } catch (...) {
        error = std::current_exception();
      }
      const std::lock_guard guard(to.mutex);
      to.value = std::move(value);
      to.error = error;
      to.done = true;
      to.changed.notify_all();
      return nullptr;
    }

    const std::shared_ptr<question> asked;
    Value (*const compute)();
  };

  std::shared_ptr<question> last_asked() {
    const std::lock_guard guard(mutex_);
    return asked_;
  }
  // Null if there is a task that computes, or after close().
  std::shared_ptr<question> start() {
    const std::lock_guard guard(mutex_);
    if (closed_ || (asked_ != nullptr && !asked_->wait(std::chrono::milliseconds(0)))) return {};
    const auto now = std::make_shared<question>();
    auto work = std::make_unique<task>(now, compute_);
    asked_ = now;  // only now, since wait() would wait forever for a task that was not submitted
    place_.task_scheduler->submit(work.release());
    return now;
  }

  sync::place_state& place_;
  Value (*const compute_)();
  std::mutex mutex_;
  bool closed_ = false;
  std::shared_ptr<question> asked_;  // null, or the last one
};

}  // namespace apgas::inline v0::launch
