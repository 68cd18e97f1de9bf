// SPDX-License-Identifier: Apache-2.0
#include "imsuite/baseline.hpp"

namespace imsuite {

task_threads::~task_threads() {
  {
    const std::scoped_lock hold(mutex_);
    ending_ = true;
  }
  work_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void task_threads::grow_to(int threads) {
  while (std::cmp_less(threads_.size(), threads)) {
    threads_.emplace_back([this] { serve(); });
  }
}

void task_threads::start(task t) {
  const std::scoped_lock hold(mutex_);
  waiting_.push_back(std::move(t));
  ++unfinished_;
  work_.notify_one();
}

void task_threads::wait_for_all() {
  std::unique_lock hold(mutex_);
  all_ended_.wait(hold, [this] { return unfinished_ == 0; });
}

void task_threads::serve() {
  std::unique_lock hold(mutex_);
  for (;;) {
    work_.wait(hold, [this] { return ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const task t = std::move(waiting_.front());
    waiting_.pop_front();
    hold.unlock();
    t();
    hold.lock();
    if (--unfinished_ == 0) all_ended_.notify_all();
  }
}

}  // namespace imsuite
