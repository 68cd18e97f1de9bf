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

// While it lives, the running code may act as other tasks, one after the other: errors, names and
// registrations are those of the last one.
class acting {
 public:
  explicit acting(scheduler::fiber& self) noexcept : self_(self), mine_(self.task) {}
  acting(const acting&) = delete;
  acting& operator=(const acting&) = delete;
  ~acting() { self_.task = mine_; }

  void as(const scheduler::fiber& task) noexcept {
    self_.task = &task == &self_ ? mine_ : task.task;
    ++self_.task.rare.atomic_depth;
  }

 private:
  scheduler::fiber& self_;
  const scheduler::task_state mine_;
};

bool is_true_or_throws(waiting_section& s) noexcept {
  try {
    return s.condition(s);
  } catch (...) {
    s.error = std::current_exception();
    return true;
  }
}

}  // namespace

// Takes the longest waiting section that may proceed out of its queues. Returns null if there is
// none.
waiting_section* monitor_core::next_runnable(scheduler::fiber& self) noexcept {
  waiting_section* s = waiting_.next_to_test();
  if (s == nullptr) return nullptr;
  std::uint64_t tested = 0;
  {
    acting task(self);
    for (; s != nullptr && s->condition != nullptr; s = waiting_.next_to_test()) {
      ++tested;
      task.as(*s->task);
      if (is_true_or_throws(*s)) break;
    }
  }
  add(counters_.tested, tested);
  if (s != nullptr) waiting_.remove(*s);
  return s;
}

void monitor_core::run_for(scheduler::fiber& self, waiting_section& s) noexcept {
  if (s.error == nullptr) {
    acting task(self);
    task.as(*s.task);
    try {
      s.body(s);
    } catch (...) {
      s.error = std::current_exception();
    }
  }
  add(counters_.run);
  s.done.signal();
}

void monitor_core::run_others_and_leave(scheduler::fiber& self) noexcept {
  waiting_.mark();
  for (int budget = run_for_others_max;;) {
    waiting_section* const s = next_runnable(self);
    if (s == nullptr) {
      if (lock_.try_leave(&self)) return;
      for (waiting_section* a = lock_.take_arrived(&self); a != nullptr;) {
        waiting_.add(*std::exchange(a, a->next));
      }
      continue;
    }
    if (budget-- == 0 && s->error == nullptr) {
      add(counters_.passed);
      lock_.pass(s->task);
      s->granted = true;
      s->done.signal();
      return;
    }
    run_for(self, *s);
    waiting_.mark();
  }
}

void monitor_core::explain(const scheduler::wait_record& waits_for, scheduler::wait_explainer& to) {
  const auto& monitor = *static_cast<const monitor_core*>(waits_for.object);
  const auto* const holder = static_cast<const scheduler::fiber*>(monitor.lock_.holder());
  if (holder == nullptr) return;
  to.needs({&monitor, "monitor"}, *holder, "holds it", scheduler::releaser::perhaps_another);
}

void monitor_core::run_as_holder(scheduler::fiber& self, waiting_section& s) {
  ++self.task.rare.atomic_depth;
  try {
    s.body(s);
  } catch (...) {
    s.error = std::current_exception();
  }
  --self.task.rare.atomic_depth;
  leave(self);
  if (s.error != nullptr) std::rethrow_exception(std::move(s.error));
}

void monitor_core::join(scheduler::fiber& self, waiting_section& s,
                        const scheduler::call_site& where) {
  scheduler::flush_arrivals(*self.on);  // the section may signal a clock on behalf of this task
  if (s.condition != nullptr || !succeeds_soon(self, [&s] { return s.done.signalled(); })) {
    s.done.wait({s.condition != nullptr ? "when" : "atomic", this, where, explain});
  }
  if (s.granted) {
    add(counters_.entered);
    return run_as_holder(self, s);
  }
  if (s.error != nullptr) std::rethrow_exception(std::move(s.error));
}

void monitor_core::submit(scheduler::fiber& self, waiting_section& s,
                          const scheduler::call_site& where) {
  s.task = &self;
  const auto enters = [&] { return lock_.holder() == nullptr && try_enter(self); };
  if (s.condition == nullptr && succeeds_soon(self, enters)) return run_as_holder(self, s);
  if (lock_.arrive(&self, s)) {
    add(counters_.entered);
    run_others_and_leave(self);
  }
  join(self, s, where);
}

void monitor_core::wait(scheduler::fiber& self, waiting_section& s,
                        const scheduler::call_site& where) {
  s.task = &self;
  waiting_.add(s);
  run_others_and_leave(self);
  join(self, s, where);
}

monitor_core::counts monitor_core::count() const noexcept {
  return {counters_.entered.load(base::relaxed), counters_.tested.load(base::relaxed),
          counters_.run.load(base::relaxed), counters_.passed.load(base::relaxed)};
}

}  // namespace apgas::inline v0::sync
