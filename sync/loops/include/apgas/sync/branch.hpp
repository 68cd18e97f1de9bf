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

#include <apgas/exceptions.hpp>
#include <apgas/sync/task.hpp>

// One branch of a fork_join: a slot that its own frame takes back, unless a thief was faster. The
// frame keeps the closure by value, so it stays in registers; the slot has a copy for the thief.
namespace apgas::inline v0::sync {

// void as a value.
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

// Who waits for a stolen branch, and what the thief leaves there. Lives on the stack of the fork.
template <class R>
class branch_join : public scheduler::task_counter {
 public:
  branch_join(scheduler::task_counter* enclosing, std::source_location site) noexcept
      : enclosing_(enclosing), site_(site) {}

  scheduler::task_counter* enclosing() const noexcept { return enclosing_; }
  std::source_location site() const noexcept { return site_; }

  // By the thief, once.
  void set_value(R&& value) {
    ::new (static_cast<void*>(&storage_)) R(std::move(value));
    failed_ = false;
  }
  void set_error(std::exception_ptr error) noexcept {
    ::new (static_cast<void*>(&storage_)) std::exception_ptr(std::move(error));
    failed_ = true;
  }

  // By the fork, after waiting, once.
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

  scheduler::task_counter* enclosing_;
  std::source_location site_;
  bool failed_;  // set with the storage: nothing is initialised for a branch nobody steals
  alignas(alignment) std::byte storage_[bytes];
};

// A branch that does not fit a slot is reached through its frame, which waits for it.
template <class F>
class branch_reference {
 public:
  explicit branch_reference(F& f) noexcept : f_(&f) {}
  auto operator()() const { return (*f_)(); }

 private:
  F* f_;
};

// What a thief does with a branch.
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
  // Context: a catch block.
  void add();
  [[noreturn]] void raise();

 private:
  std::source_location site_;
  std::vector<task_exception> exceptions_;
};

// The slow half of a join: its branch was stolen, or tasks that the other branch spawned into the
// enclosing finish lie above it. True: the branch is the caller's to run, false: it has been run.
bool retake(scheduler::task_counter& join) noexcept;

// The error path of fork_two, apart so that the usual one keeps everything in registers: `f` comes
// by value where the slot holds a copy. Context: a catch block.
template <class First, class F>
[[noreturn, gnu::noinline, gnu::cold]] void fork_failed(F f, bool first_is_due,
                                                        branch_join<First>& join) {
  branch_failures failures(join.site());
  failures.add();
  if (first_is_due) {
    try {
      if (retake(join)) {
        static_cast<void>(value_from(f));
      } else {
        static_cast<void>(join.take());
      }
    } catch (...) {
      failures.add();
    }
  }
  failures.raise();
}

// The address of a local object plus `offset`, computed here: kept in a register from before a
// call, it would be saved and restored by every function of a recursion, leaves included.
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

template <class F, class G>
auto fork_two(F f, G g, std::source_location site) -> values_of<F, G>;

// The same for a task with a name or registrations, or in an atomic section.
template <class F, class G>
[[gnu::noinline]] auto fork_from_special(F f, G g, std::source_location site) -> values_of<F, G> {
  const hidden_task hidden(suspendable_fiber("fork_join"));
  return fork_two(std::move(f), std::move(g), site);
}

// Runs f and g in parallel and returns both values. While g runs nothing is kept in registers but
// f: the slot is found again by what it says, since it is on top unless something went the slow
// way.
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
    return fork_from_special<F, G>(std::move(f), std::move(g), site);
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
  try {
    from_g.emplace(value_from(g));
  } catch (...) {
    fork_failed<first, handed>(f, true, join_here());
  }
  try {
    // Untouched: this stack was not left since, or its slots would have been counted.
    if (join.untouched()) [[likely]] {
      auto& tasks = scheduler::fiber_after_call()->on->tasks;
      scheduler::slot* const top = tasks.head() - 1;
      if (top->tagged_counter == address_here<join_kind>(join) && tasks.pop(top)) [[likely]] {
        return std::pair<first, second>(value_from(f), *std::move(from_g));
      }
    }
    if (retake(join_here())) {
      return std::pair<first, second>(value_from(f), *std::move(from_g));
    }
    return std::pair<first, second>(join.take(), *std::move(from_g));
  } catch (...) {
    fork_failed<first, handed>(f, false, join_here());
  }
}

}  // namespace apgas::inline v0::sync
