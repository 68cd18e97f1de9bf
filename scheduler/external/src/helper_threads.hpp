// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <apgas/base/own_threads.hpp>

#include "exit_monitor.hpp"

// Helper threads: they run calls that may block, such as input and output, so that no worker has to
// block. They do not run tasks. A new thread is started when all are busy; threads stay until the
// end.
namespace apgas::inline v0::scheduler {

class helper_threads {
 public:
  // Each thread calls on_exit() if the call that it runs calls std::exit (exit_monitor.hpp).
  explicit helper_threads(void (*on_exit)() noexcept) : on_exit_(on_exit) {}
  helper_threads(const helper_threads&) = delete;
  helper_threads& operator=(const helper_threads&) = delete;
  ~helper_threads() {
    {
      std::lock_guard guard(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& t : threads_) t.join();
  }

  // Runs `work`, which must not throw, on a helper thread. Does not wait for it.
  // Throws: std::system_error if a new thread is needed and the system refuses it; then `work` is
  // not run.
  // Context: any thread.
  void run(std::function<void()> work) {
    std::lock_guard guard(mutex_);
    if (idle_ <= queue_.size()) threads_.emplace_back([this] { loop(); });
    queue_.push_back(std::move(work));
    wake_.notify_one();
  }

  // Whether a call is running or waits for a thread. Context: any thread.
  bool busy() {
    std::lock_guard guard(mutex_);
    return !queue_.empty() || idle_ != threads_.size();
  }

 private:
  void loop() {
    const base::own_thread counts;
    const exit_monitor watch(on_exit_);
    std::unique_lock lock(mutex_);
    for (;;) {
      ++idle_;
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      --idle_;
      if (queue_.empty()) return;
      std::function<void()> work = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      work();
      work = nullptr;
      lock.lock();
    }
  }

  void (*const on_exit_)() noexcept;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
};

}  // namespace apgas::inline v0::scheduler
