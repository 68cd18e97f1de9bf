// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/monitor_core.hpp>

#include <utility>

#include <apgas/sync/wait_queue.hpp>

namespace apgas::inline v0::sync {
namespace {

// The number of sections that a task runs for others before it grants the monitor to the next
// waiting task, which continues with the rest. Without a limit, a task might never get away from a
// busy monitor.
constexpr int run_for_others_max = 64;

// While this object lives, the running code acts as another task: errors, names and registrations
// are those of that task.
class acting_as {
 public:
  acting_as(scheduler::fiber& self, const scheduler::fiber& task) noexcept
      : self_(self), mine_(std::exchange(self.task, task.task)) {
    ++self_.task.rare.atomic_depth;
  }
  acting_as(const acting_as&) = delete;
  acting_as& operator=(const acting_as&) = delete;
  ~acting_as() { self_.task = mine_; }

 private:
  scheduler::fiber& self_;
  scheduler::task_state mine_;
};

}  // namespace

// Called when no section in waiting_ may proceed. If other sections have arrived meanwhile, appends
// them to waiting_ and returns false. Otherwise releases the monitor and returns true.
bool monitor_core::give_up() noexcept {
  lock_.lock();
  waiting_section* const first = std::exchange(arrived_, nullptr);
  if (first != nullptr) {
    *waiting_end_ = first;
    waiting_end_ = std::exchange(arrived_end_, &arrived_);
  }
  if (first == nullptr) {
    owner_.store(nullptr, base::relaxed);
    held_ = false;
  }
  lock_.unlock();
  return first == nullptr;
}

bool monitor_core::test(scheduler::fiber& self, waiting_section& s) noexcept {
  if (s.condition == nullptr) return true;
  count_one(counters_.tested);
  const acting_as task(self, *s.task);
  try {
    return s.condition(s);
  } catch (...) {
    s.error = std::current_exception();
    return true;
  }
}

// Searches the list from `tested_to` for a section that may proceed, and takes it off the list.
// Returns null if there is none.
waiting_section* monitor_core::take_runnable(scheduler::fiber& self,
                                             waiting_section**& tested_to) noexcept {
  for (; *tested_to != nullptr; tested_to = &(*tested_to)->next) {
    waiting_section* const s = *tested_to;
    if (!test(self, *s)) continue;
    *tested_to = s->next;
    if (s->next == nullptr) waiting_end_ = tested_to;
    s->next = nullptr;
    return s;
  }
  return nullptr;
}

void monitor_core::run_for(scheduler::fiber& self, waiting_section& s) noexcept {
  if (s.error == nullptr) {
    const acting_as task(self, *s.task);
    try {
      s.body(s);
    } catch (...) {
      s.error = std::current_exception();
    }
  }
  count_one(counters_.run);
  s.done.signal();
}

void monitor_core::leave(scheduler::fiber& self) noexcept {
  waiting_section** tested_to = &waiting_;  // something may have changed, so test all again
  for (int budget = run_for_others_max;;) {
    waiting_section* const s = take_runnable(self, tested_to);
    if (s == nullptr) {
      if (give_up()) return;
      continue;
    }
    if (budget-- == 0 && s->error == nullptr) {
      count_one(counters_.passed);
      owner_.store(s->task, base::relaxed);
      s->granted = true;
      s->done.signal();
      return;
    }
    run_for(self, *s);
    tested_to = &waiting_;
  }
}

void monitor_core::explain(const scheduler::wait_record& waits_for, scheduler::wait_explainer& to) {
  const auto& monitor = *static_cast<const monitor_core*>(waits_for.object);
  const scheduler::fiber* const owner = monitor.owner_.load(base::relaxed);
  if (monitor.held_ && owner != nullptr) to.needs({&monitor, "monitor"}, *owner, "holds it");
}

void monitor_core::join(scheduler::fiber& self, waiting_section& s,
                        const scheduler::call_site& where) {
  scheduler::flush_arrivals(*self.on);  // the section may signal a clock on behalf of this task
  if (s.condition != nullptr || !succeeds_soon(self, [&s] { return s.done.signalled(); })) {
    s.done.wait({s.condition != nullptr ? "when" : "atomic", this, where, explain});
  }
  if (s.granted) {
    count_one(counters_.entered);
    ++self.task.rare.atomic_depth;
    try {
      s.body(s);
    } catch (...) {
      s.error = std::current_exception();
    }
    --self.task.rare.atomic_depth;
    leave(self);
  }
  if (s.error != nullptr) std::rethrow_exception(std::move(s.error));
}

void monitor_core::submit(scheduler::fiber& self, waiting_section& s,
                          const scheduler::call_site& where) {
  s.task = &self;
  lock_.lock();
  const bool entered = !std::exchange(held_, true);
  if (!entered) {
    *arrived_end_ = &s;
    arrived_end_ = &s.next;
  }
  lock_.unlock();
  if (!entered) return join(self, s, where);
  own(self);
  wait(self, s, where);
}

void monitor_core::wait(scheduler::fiber& self, waiting_section& s,
                        const scheduler::call_site& where) {
  s.task = &self;
  *waiting_end_ = &s;
  waiting_end_ = &s.next;
  leave(self);
  join(self, s, where);
}

monitor_core::counts monitor_core::count() const noexcept {
  return {counters_.entered.load(base::relaxed), counters_.tested.load(base::relaxed),
          counters_.run.load(base::relaxed), counters_.passed.load(base::relaxed)};
}

}  // namespace apgas::inline v0::sync
