// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <mutex>
#include <set>
#include <utility>

#include <apgas/base/spin_lock.hpp>
#include <apgas/scheduler/scheduler.hpp>

#include "turns.hpp"

// Timers: external tasks that are submitted at a given time. Workers look for expired timers
// between tasks, and the sleeping poller sleeps until the next one expires. Memory is allocated and
// released outside the lock.
//
// With a seeded schedule the time is that of the schedule (turns.hpp).
namespace apgas::inline v0::scheduler {

class timers {
 public:
  using clock = std::chrono::steady_clock;

  // Uses the time of a schedule from now on. Context: before other threads use the timers.
  void follow(const turns& schedule) noexcept { schedule_ = &schedule; }

  // Adds a timer. Returns whether it is now the first one to expire. Throws: std::bad_alloc.
  // Context: any thread.
  bool add(clock::time_point when, external_task* work) {
    entries made;
    made.emplace(when, work);
    auto entry = made.extract(made.begin());
    std::lock_guard guard(lock_);
    const bool first = waiting_.empty() || when < waiting_.begin()->first;
    waiting_.insert(std::move(entry));
    note_next();
    return first;
  }

  // Removes a timer. Returns false if it has expired and was passed on. Context: any thread.
  bool remove(clock::time_point when, external_task* work) noexcept {
    entries::node_type entry;
    {
      std::lock_guard guard(lock_);
      entry = waiting_.extract({when, work});
      note_next();
    }
    return !entry.empty();
  }

  // Calls sink(task) for every timer that has expired. Returns whether there was one.
  // Context: any thread.
  template <class Sink>
  bool fire(Sink sink) {
    const auto next = next_.load(base::relaxed);
    if (next == never || now().time_since_epoch().count() < next) return false;
    bool any = false;
    for (;;) {
      entries::node_type due;
      {
        std::lock_guard guard(lock_);
        if (waiting_.empty() || waiting_.begin()->first > now()) return any;
        due = waiting_.extract(waiting_.begin());
        note_next();
      }
      sink(due.value().second);
      any = true;
    }
  }

  // Returns whether any timer is set. Context: any thread.
  bool any() const noexcept { return next_.load(base::relaxed) != never; }
  // Returns the number of timers that are set. Context: any thread.
  std::size_t count() {
    std::lock_guard guard(lock_);
    return waiting_.size();
  }

  // Returns the time until the next timer expires; max() if there is none. Context: any thread.
  std::chrono::nanoseconds until_next() const noexcept {
    const auto next = next_.load(base::relaxed);
    if (next == never) return std::chrono::nanoseconds::max();
    const auto now = this->now().time_since_epoch().count();
    return std::chrono::nanoseconds(next > now ? next - now : 0);
  }
  // Returns when that is; max() if there is none. Context: any thread.
  clock::time_point next() const noexcept {
    return clock::time_point(clock::duration(next_.load(base::relaxed)));
  }

 private:
  using entries = std::set<std::pair<clock::time_point, external_task*>>;  // earliest first
  static constexpr clock::rep never = std::numeric_limits<clock::rep>::max();

  clock::time_point now() const noexcept {
    return schedule_ != nullptr ? schedule_->now() : clock::now();
  }

  void note_next() {
    next_.store(waiting_.empty() ? never : waiting_.begin()->first.time_since_epoch().count(),
                base::relaxed);
  }

  base::spin_lock lock_;
  base::atomic<clock::rep> next_{never};
  entries waiting_;
  const turns* schedule_ = nullptr;
};

}  // namespace apgas::inline v0::scheduler
