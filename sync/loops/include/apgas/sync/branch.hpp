// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <apgas/base/api.hpp>
#include <apgas/exceptions.hpp>
#include <apgas/sync/task.hpp>

// One branch of a fork_join. It lies in a slot of the deque, from where its own frame takes it back
// unless a thief was faster. The frame keeps the closure by value, so that it stays in registers;
// the slot has a copy for the thief.
namespace apgas::inline v0::sync {

// The type of a branch's value: std::monostate stands for void.
template <class R>
using value_of = std::conditional_t<std::is_void_v<R>, std::monostate, std::decay_t<R>>;

template <class F>
[[gnu::always_inline]] inline auto value_from(F& f) -> value_of<std::invoke_result_t<F&>> {
  if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
    f();
    return {};
  } else {
    return f();
  }
}

// Where the fork waits for a branch that was stolen, and where the thief leaves the result. It
// lives on the stack of the fork.
template <class R>
class branch_join : public scheduler::branch_counter {
 public:
  using scheduler::branch_counter::branch_counter;

  // Stores the result. Context: the thief, once.
  void set_value(R&& value) {
    ::new (static_cast<void*>(&storage_)) R(std::move(value));
    failed_ = false;
  }
  void set_error(std::exception_ptr error) noexcept {
    ::new (static_cast<void*>(&storage_)) std::exception_ptr(std::move(error));
    failed_ = true;
  }

  // Returns the result or throws the exception. Context: the fork, once, after it has waited.
  R take() {
    if (failed_) rethrow();
    auto* value = std::launder(reinterpret_cast<R*>(&storage_));
    R held = std::move(*value);
    std::destroy_at(value);
    return held;
  }

 private:
  [[noreturn, gnu::noinline, gnu::cold]] void rethrow() {
    auto* error = std::launder(reinterpret_cast<std::exception_ptr*>(&storage_));
    const std::exception_ptr held = std::move(*error);
    std::destroy_at(error);
    std::rethrow_exception(held);
  }

  static constexpr std::size_t bytes = std::max(sizeof(R), sizeof(std::exception_ptr));
  static constexpr std::size_t alignment = std::max(alignof(R), alignof(std::exception_ptr));

  bool failed_;  // set together with the storage, so that an unstolen branch initialises nothing
  alignas(alignment) std::byte storage_[bytes];
};

// Stands in the slot for a branch that is too large for it, and refers to the closure in the frame
// of the fork, which waits for the branch.
template <class F>
class branch_reference {
 public:
  explicit branch_reference(F& f) noexcept : f_(&f) {}
  auto operator()() const { return (*f_)(); }

 private:
  F* f_;
};

// Runs a branch. Context: the task of a thief.
template <class F, class R>
void run_branch(scheduler::slot& s, scheduler::fiber& self) {
  auto& join = *static_cast<branch_join<R>*>(s.counter());
  F f = scheduler::take_closure<F>(s);
  self.task.finish = join.enclosing();
  self.task.site = join.site();
  try {
    join.set_value(value_from(f));
  } catch (...) {
    join.set_error(std::current_exception());
  }
}

// Collects what branches throw and throws it as one multiple_exceptions.
class branch_failures {
 public:
  explicit branch_failures(std::source_location site) noexcept : site_(site) {}
  // Adds the exception that is being handled. Context: a catch block.
  APGAS_API void add();
  APGAS_API [[noreturn]] void raise();

 private:
  std::source_location site_;
  std::vector<task_exception> exceptions_;
};

// Completes a join whose branch is not on top of the deque: it was stolen, or tasks that the other
// branch spawned into the enclosing finish lie above it. Returns true if the caller must run the
// branch. Otherwise waits until the thief has run it, and returns false.
// Context: task; may suspend and resume on another worker.
APGAS_API bool take_back_or_wait(scheduler::task_counter& join,
                                 const scheduler::call_site& where) noexcept;

// Ends a branch that its fork has run itself: what it was given by name_task, by registration or by
// task_local ends with it. Returns the fiber, whose address is computed anew after a call rather
// than kept in a register. Requires: the task of the fork has no attributes.
[[gnu::always_inline]] inline scheduler::fiber* end_branch() noexcept {
  scheduler::fiber* self = scheduler::fiber_after_call();
  if (self->task.rare.has_attributes != 0) [[unlikely]] {
    scheduler::clear_attributes(*self);
    self = scheduler::fiber_after_call();
  }
  return self;
}

// Runs a branch in the task of its fork.
template <class F>
[[gnu::always_inline]] inline auto branch_value(F& f) {
  auto value = value_from(f);
  end_branch();
  return value;
}

// Completes a fork of which a branch threw, and throws what both threw. It is a function of its
// own, so that the usual path keeps everything in registers. `f` comes by value where the slot
// holds a copy. `first_is_pending`: the first branch has not run yet. Context: a catch block.
template <class First, class F>
[[noreturn, gnu::noinline, gnu::cold]] void fork_failed(F f, bool first_is_pending,
                                                        branch_join<First>& join) {
  branch_failures failures(join.site());
  failures.add();
  end_branch();
  if (first_is_pending) {
    try {
      if (take_back_or_wait(join, join.site())) {
        static_cast<void>(branch_value(f));
      } else {
        static_cast<void>(join.take());
      }
    } catch (...) {
      failures.add();
      end_branch();
    }
  }
  failures.raise();
}

// Returns the address of a local object plus `offset`, computed anew at each call. If it were kept
// in a register across a call, every function of a recursion would save and restore that register,
// even the leaves.
template <std::uintptr_t Offset = 0, class T>
[[gnu::always_inline]] inline std::uintptr_t address_here(const T& object) noexcept {
  static_assert(Offset < sizeof(T));
#if defined(__x86_64__)
  std::uintptr_t address;
  asm volatile("lea %1, %0" : "=r"(address) : "m"(reinterpret_cast<const char*>(&object)[Offset]));
  return address;
#else
  return reinterpret_cast<std::uintptr_t>(&object) + Offset;
#endif
}

template <class F, class G>
using values_of = std::pair<value_of<std::invoke_result_t<F&>>, value_of<std::invoke_result_t<G&>>>;

// A branch without its type. It refers to a function in the frame of the fork, which keeps the
// value.
class branch_without_type {
 public:
  template <class F>
    requires(!std::is_same_v<F, branch_without_type>)
  explicit branch_without_type(F& f) noexcept
      : run_([](void* of) { (*static_cast<F*>(of))(); }), f_(&f) {}
  void operator()() const { run_(f_); }

 private:
  void (*run_)(void*);
  void* f_;
};

// Runs f and g in parallel for a task that has a name, registrations or task locals. Throws
// illegal_operation in an atomic section.
APGAS_API void fork_hiding_attributes(branch_without_type f, branch_without_type g,
                                      std::source_location site);

// The same for branches with values. It does not fork them itself: a second copy of the code of
// each branch would double what a program with many forks takes to compile.
template <class F, class G>
[[gnu::noinline, gnu::cold]] auto fork_rarely(F f, G g, std::source_location site)
    -> values_of<F, G> {
  std::optional<value_of<std::invoke_result_t<F&>>> from_f;
  std::optional<value_of<std::invoke_result_t<G&>>> from_g;
  auto run_f = [&f, &from_f] { from_f.emplace(value_from(f)); };
  auto run_g = [&g, &from_g] { from_g.emplace(value_from(g)); };
  fork_hiding_attributes(branch_without_type(run_f), branch_without_type(run_g), site);
  return {*std::move(from_f), *std::move(from_g)};
}

// Runs f and g in parallel and returns both values. While g runs, only f is kept in registers. The
// slot is recognised afterwards by its contents: it is on top of the deque unless the branch was
// stolen or tasks lie above it.
template <class F, class G>
[[gnu::always_inline]] inline auto fork_two(F f, G g, std::source_location site)
    -> values_of<F, G> {
  using first = value_of<std::invoke_result_t<F&>>;
  using second = value_of<std::invoke_result_t<G&>>;
  constexpr bool copied = scheduler::fits_slot<F>;
  using stored = std::conditional_t<copied, F, branch_reference<F>>;
  using handed = std::conditional_t<copied, F, F&>;
  scheduler::fiber& before = task_fiber("fork_join");
  if (!before.task.plain()) [[unlikely]]
    return fork_rarely<F, G>(std::move(f), std::move(g), site);
  constexpr auto join_kind = static_cast<std::uintptr_t>(scheduler::slot_kind::join);
  branch_join<first> join(before.task.finish, site);
  const auto join_here = [&join]() -> auto& {
    return *reinterpret_cast<branch_join<first>*>(address_here(join));
  };
  {
    auto& tasks = before.on->tasks;
    scheduler::slot* const s = tasks.head();
    scheduler::store_closure<stored>(*s, stored(f));
    s->run = &run_branch<stored, first>;
    s->tagged_counter = address_here<join_kind>(join);
    if (tasks.push(s)) [[unlikely]]
      scheduler::attend(before, false);
  }

  std::optional<second> from_g;
  scheduler::fiber* self;
  try {
    from_g.emplace(value_from(g));
    self = end_branch();
  } catch (...) {
    fork_failed<first, handed>(f, true, join_here());
  }
  try {
    // Untouched means that this stack was not left meanwhile, or its slots would have been counted.
    if (join.untouched()) [[likely]] {
      auto& tasks = self->on->tasks;
      scheduler::slot* const top = tasks.head() - 1;
      if (top->tagged_counter == address_here<join_kind>(join) && tasks.pop(top)) [[likely]] {
        return std::pair<first, second>(branch_value(f), *std::move(from_g));
      }
    }
    if (take_back_or_wait(join_here(), join_here().site())) {
      return std::pair<first, second>(branch_value(f), *std::move(from_g));
    }
    return std::pair<first, second>(join.take(), *std::move(from_g));
  } catch (...) {
    fork_failed<first, handed>(f, false, join_here());
  }
}

}  // namespace apgas::inline v0::sync
