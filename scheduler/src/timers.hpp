// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/base/spin_lock.hpp>
#include <apgas/scheduler/scheduler.hpp>

#include <chrono>
#include <limits>
#include <mutex>
#include <queue>
#include <vector>

// Work that becomes due at a time. Workers look between tasks; the watching sleeper sleeps until the
// next one is due.
namespace apgas::inline v0::scheduler {

class timers {
 public:
  using clock = std::chrono::steady_clock;

  // True: it is now the first to become due. Context: any thread.
  bool add(clock::time_point when, injected* work) {
    std::lock_guard guard(lock_);
    const bool first = heap_.empty() || when < heap_.top().when;
    heap_.push({when, work});
    note_next();
    return first;
  }

  // Hands what is due to `sink`; true if anything was. Context: any thread.
  template <class Sink>
  bool fire(Sink sink) {
    if (next_.load(base::relaxed) == never || clock::now().time_since_epoch().count() < next_.load(base::relaxed)) {
      return false;
    }
    bool any = false;
    for (;;) {
      injected* due = nullptr;
      {
        std::lock_guard guard(lock_);
        if (heap_.empty() || heap_.top().when > clock::now()) return any;
        due = heap_.top().work;
        heap_.pop();
        note_next();
      }
      sink(due);
      any = true;
    }
  }

  // How long nothing becomes due; max() when nothing is set.
  std::chrono::nanoseconds until_next() const noexcept {
    const auto next = next_.load(base::relaxed);
    if (next == never) return std::chrono::nanoseconds::max();
    const auto now = clock::now().time_since_epoch().count();
    return std::chrono::nanoseconds(next > now ? next - now : 0);
  }

 private:
  struct entry {
    clock::time_point when;
    injected* work;
    bool operator<(const entry& other) const { return when > other.when; }  // earliest on top
  };
  static constexpr clock::rep never = std::numeric_limits<clock::rep>::max();

  void note_next() {
    next_.store(heap_.empty() ? never : heap_.top().when.time_since_epoch().count(), base::relaxed);
  }

  base::spin_lock lock_;
  base::atomic<clock::rep> next_{never};
  std::priority_queue<entry> heap_;
};

}  // namespace apgas::inline v0::scheduler
