// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <source_location>
#include <type_traits>
#include <utility>

#include <apgas/base/api.hpp>
#include <apgas/sync/finish_core.hpp>
#include <apgas/sync/task_locals.hpp>

// Spawning: how a closure becomes a slot in the worker's deque, and how it is run from there.
namespace apgas::inline v0::sync {

// These throw illegal_operation and name the operation that was called.
APGAS_API [[noreturn]] void throw_outside_task(const char* operation);
APGAS_API [[noreturn]] void throw_inside_atomic(const char* operation);

// Returns the fiber of the calling task. Throws: illegal_operation outside a task.
[[gnu::always_inline]] inline scheduler::fiber& task_fiber(const char* operation) {
  if (!scheduler::on_fiber()) [[unlikely]]
    throw_outside_task(operation);
  return *scheduler::fiber_of_this_stack();
}

// The same for an operation that may suspend or spawn, and so is not allowed in a critical section.
// Throws: illegal_operation outside a task and inside a critical section.
[[gnu::always_inline]] inline scheduler::fiber& suspendable_fiber(const char* operation) {
  scheduler::fiber& self = task_fiber(operation);
  if (self.task.rare.atomic_depth != 0) [[unlikely]]
    throw_inside_atomic(operation);
  return self;
}

// Hides the name, the registrations and the locals of the calling task while it runs branches,
// which are tasks of their own. `where` is the line of the fork_join. The destructor restores them.
class hidden_attributes {
 public:
  hidden_attributes(scheduler::fiber& self, const scheduler::call_site& where) noexcept
      : task_(self.task), hidden_{&task_, self.hidden, "fork_join", where} {
    self.hidden = &hidden_;
    self.task.name = nullptr;
    self.task.registrations = nullptr;
    self.task.locals = nullptr;
    self.task.rare.has_attributes = 0;
  }
  hidden_attributes(const hidden_attributes&) = delete;
  hidden_attributes& operator=(const hidden_attributes&) = delete;
  ~hidden_attributes();

 private:
  const scheduler::task_state task_;
  const scheduler::hidden_task hidden_;
};

// Gives the running task a name; null removes it.
inline void name_task(const char* text) noexcept {
  scheduler::fiber& self = *scheduler::current_fiber();
  scheduler::task_state& task = self.task;
  task.name = text;
  task.rare.has_attributes &= ~std::uint32_t{scheduler::is_described};
  if (text != nullptr || task.registrations != nullptr) {
    task.rare.has_attributes |= scheduler::is_described;
  }
  if (text != nullptr) scheduler::task_described(self);
}

// Runs a slot that holds the closure of an async.
template <class F>
void run_async(scheduler::slot& s, scheduler::fiber&) {
  F f = scheduler::take_closure<F>(s);
  try {
    f();
  } catch (...) {
    task_failed(*scheduler::fiber_of_this_stack());
  }
}

// Pushes f as a child task of the running one, without values of task_local objects.
template <class F>
[[gnu::always_inline]] inline void push_child(scheduler::fiber& self, F&& f,
                                              std::source_location site,
                                              scheduler::slot_kind kind) {
  using closure = std::decay_t<F>;
  if constexpr (scheduler::fits_slot<closure>) {
    auto& tasks = self.on->tasks;
    scheduler::slot* const s = tasks.head();
    scheduler::store_closure<closure>(*s, std::forward<F>(f));
    s->run = &run_async<closure>;
    s->tagged_counter = scheduler::slot::tag(self.task.finish, kind);
    s->site = site;
    if (tasks.push(s)) [[unlikely]]
      scheduler::attend(self, true);
  } else {
    // The box is made before the slot is chosen, because copying a closure may run user code.
    push_child(self, scheduler::boxed<closure>(std::forward<F>(f)), site,
               scheduler::slot_kind::task);
  }
}

// The same for a child that gets copies of the values of task_local objects that children inherit.
// f is a parameter by value: if its address were taken, every spawn would write the closure to its
// stack and copy it from there, and a load of 16 bytes waits for smaller stores just before it.
// Throws: what copying them throws; then there is no child.
template <class F>
[[gnu::noinline]] void push_inheriting_child(scheduler::fiber& self, F f,
                                             std::source_location site) {
  push_child(self, inheriting<F>(self, std::move(f)), site, scheduler::slot_kind::task);
}

// Pushes f as a child task of the running one. Context: task. A suspension point: when very many
// tasks are waiting to run, some of them run first.
// Cost: no atomic read-modify-write, and no allocation for a trivially copyable closure of up to 40
// bytes.
template <class F>
[[gnu::always_inline]] inline void spawn(scheduler::fiber& self, F&& f, std::source_location site,
                                         scheduler::slot_kind kind = scheduler::slot_kind::task) {
  if (children_inherit(self)) [[unlikely]]
    return push_inheriting_child<std::decay_t<F>>(self, std::forward<F>(f), site);
  push_child(self, std::forward<F>(f), site, kind);
}

}  // namespace apgas::inline v0::sync
