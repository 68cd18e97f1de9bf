// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace apps {

// A thread for a peer that has threads of its own, such as OpenMP. It is started before the
// runtime, so that it and the threads that it starts may use every core that the process may use.
class peer_thread {
 public:
  peer_thread() : thread_([this] { serve(); }) {}
  ~peer_thread() {
    hand_over(state::ended);
    thread_.join();
  }
  peer_thread(const peer_thread&) = delete;
  peer_thread& operator=(const peer_thread&) = delete;

  // Runs f() on the thread and blocks until it returns. The caller's worker runs no task meanwhile,
  // so that the peer has its core. Requires: f does not throw.
  void run(std::function<void()> f) {
    work_ = std::move(f);
    hand_over(state::busy);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return state_ == state::idle; });
  }

 private:
  enum class state { idle, busy, ended };

  void hand_over(state s) {
    const std::lock_guard lock(mutex_);
    state_ = s;
    changed_.notify_all();
  }
  void serve() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return state_ != state::idle; });
      if (state_ == state::ended) return;
      lock.unlock();
      work_();
      hand_over(state::idle);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  state state_ = state::idle;
  std::function<void()> work_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace apps
