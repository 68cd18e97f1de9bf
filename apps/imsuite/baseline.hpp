// SPDX-License-Identifier: Apache-2.0
#pragma once

// The baseline policy: clocks as in X10 2.6, for comparison with the figures of the paper. There is
// a thread for each task, running or waiting, and one lock per place for clocks and atomic sections
// alike. A thread that releases the lock wakes all waiting threads, and each of them checks its
// clock again. This file uses nothing of apgas.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "imsuite/one_place.hpp"

namespace imsuite {

// X10's atomic and when.
class place_lock {
 public:
  template <class Section>
  void atomic(const Section& f) {
    {
      const std::scoped_lock hold(mutex_);
      f();
    }
    left_.notify_all();
  }
  template <class Condition>
  void await(const Condition& c) {
    std::unique_lock hold(mutex_);
    left_.wait(hold, c);
  }

 private:
  std::mutex mutex_;
  std::condition_variable left_;
};

// X10's clock. The thread that makes one is registered on it.
class place_clock {
 public:
  explicit place_clock(place_lock& lock) : lock_(lock) {}

  void register_task() {
    lock_.atomic([this] { ++registered_, ++expected_; });
  }
  void advance() {
    long mine = 0;
    lock_.atomic([this, &mine] {
      mine = phase_;
      arrive();
    });
    lock_.await([this, mine] { return phase_ > mine; });
  }
  void drop() {
    lock_.atomic([this] {
      --registered_;
      arrive();
    });
  }

 private:
  void arrive() {
    if (--expected_ > 0) return;
    expected_ = registered_;
    ++phase_;
  }

  place_lock& lock_;
  int registered_ = 1;
  int expected_ = 1;  // tasks that have not arrived in this phase
  long phase_ = 0;
};

// Reusable threads that run tasks. Before it starts tasks that wait for each other, a caller must
// grow the pool to as many threads.
class task_threads {
 public:
  using task = std::function<void()>;

  task_threads() = default;
  task_threads(const task_threads&) = delete;
  task_threads& operator=(const task_threads&) = delete;
  ~task_threads();

  void grow_to(int threads);
  void start(task t);
  void wait_for_all();

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable all_ended_;
  std::deque<task> waiting_;
  int unfinished_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

class by_baseline : public at_one_place {
 public:
  template <class... Steps>
  void round(int nodes, Steps... steps) {
    clocked_round(nodes, [=](place_clock& c, int node) { (take(steps, c, node), ...); });
    count_round(nodes, advances_in<Steps...>);
  }

  template <class Live, class... Steps>
  void rounds_while(int nodes, Live live, Steps... steps) {
    clocked_round(nodes, [=, this](place_clock& c, int node) {
      int rounds = 0;
      for (; live(node); ++rounds) (take(steps, c, node), ...);
      atomic([this, rounds] { count_task(rounds, advances_in<Steps...>); });
    });
  }

  template <class Phase>
  void each(int nodes, const Phase& f) {
    threads_.grow_to(nodes);
    for (int node = 0; node < nodes; ++node) threads_.start([&f, node] { f(node); });
    threads_.wait_for_all();
  }

  template <class Section>
  void atomic(Section f) {
    lock_.atomic(f);
  }

 private:
  template <class Body>
  void clocked_round(int nodes, const Body& body) {
    threads_.grow_to(nodes);
    place_clock c(lock_);
    const auto task = [&](int node) {
      body(c, node);
      c.drop();
    };
    for (int node = 0; node < nodes; ++node) {
      c.register_task();
      threads_.start([&task, node] { task(node); });
    }
    c.drop();
    threads_.wait_for_all();
  }

  template <phase Step>
  static void take(const Step& f, place_clock&, int node) {
    f(node);
  }
  template <advance Step>
  static void take(const Step&, place_clock& c, int) {
    c.advance();
  }
  static void take(eager_resume, place_clock&, int) {}  // the drop that follows does the same

  place_lock lock_;
  task_threads threads_;
};

}  // namespace imsuite
