// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "exit_watch.hpp"

// Threads that may block, for calls into foreign code. They run no tasks; they are started when all
// are busy and stay until the end.
namespace apgas::inline v0::scheduler {

class helper_threads {
 public:
  // on_exit: see exit_watch.
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

  // Context: any thread. `work` must not throw. Throws: std::system_error when a thread is needed
  // and the system refuses one; `work` has not run then.
  void run(std::function<void()> work) {
    std::lock_guard guard(mutex_);
    if (idle_ <= queue_.size()) threads_.emplace_back([this] { loop(); });
    queue_.push_back(std::move(work));
    wake_.notify_one();
  }

 private:
  void loop() {
    const exit_watch watch(on_exit_);
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
