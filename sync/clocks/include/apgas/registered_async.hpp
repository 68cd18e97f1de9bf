// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <source_location>
#include <utility>

#include <apgas/async.hpp>
#include <apgas/future.hpp>
#include <apgas/sync/registered_task.hpp>

// Spawns of tasks that are registered on clocks and phasers (X10 `async clocked(...)`, Habanero
// `async phased(...)`):
//
//   const auto c = apgas::clock::make();
//   const auto d = apgas::clock::make();
//   const apgas::phaser ph;
//   apgas::async(apgas::clocked(c, d), [=] { c.advance(); });
//   apgas::async(apgas::phased(ph, apgas::phaser_mode::signal), [=] { ph.signal(); });
//   apgas::async(apgas::name("relax"), apgas::clocked(c),
//                apgas::phased(ph, apgas::phaser_mode::wait), [=] { ph.wait(); });
//   const auto result = apgas::async_future(apgas::clocked(c), [] { return compute(); });
//
// The child is registered before it can run. For other places there is async_at (at.hpp).
namespace apgas::inline v0 {
namespace sync {

// Implements async with a clause. `operation` names the calling function in error messages.
template <registration_clause C, class F>
void async_registered(const char* operation, const C& clause, F&& f, std::source_location site) {
  scheduler::fiber& self = suspendable_fiber(operation);
  spawn_registered(self, operation, clause, std::forward<F>(f), [&](auto&& task) {
    const scheduler::slot_kind kind = task.kind();
    spawn(self, std::forward<decltype(task)>(task), site, kind);
  });
}
template <registration_clause C, class F>
void async_registered(const char* operation, name n, const C& clause, F&& f,
                      std::source_location site) {
  spawn_registered(suspendable_fiber(operation), operation, clause, std::forward<F>(f),
                   [&](auto&& task) { async(n, std::forward<decltype(task)>(task), site); });
}

}  // namespace sync

// Spawns f() as a child of the innermost finish, registered as the one or two clauses say,
// optionally with a name for diagnostics. `f` is copied or moved into the task.
// Throws: clock_use_error, phaser_use_error as the clauses say; otherwise as async. If anything is
// thrown, there is no child and no registration.
// Context: task; not inside `atomic` or `when`. May suspend. Cost: about 30 ns more than async
// without a clause.
template <sync::registration_clause C, std::invocable F>
void async(const C& clause, F&& f, std::source_location site = std::source_location::current()) {
  sync::async_registered("async", clause, std::forward<F>(f), site);
}
template <sync::registration_clause C, sync::registration_clause D, std::invocable F>
void async(const C& clause, const D& other, F&& f,
           std::source_location site = std::source_location::current()) {
  sync::async_registered("async", sync::both(clause, other), std::forward<F>(f), site);
}
template <sync::registration_clause C, std::invocable F>
void async(name n, const C& clause, F&& f,
           std::source_location site = std::source_location::current()) {
  sync::async_registered("async", n, clause, std::forward<F>(f), site);
}
template <sync::registration_clause C, sync::registration_clause D, std::invocable F>
void async(name n, const C& clause, const D& other, F&& f,
           std::source_location site = std::source_location::current()) {
  sync::async_registered("async", n, sync::both(clause, other), std::forward<F>(f), site);
}

// Like async with the same clauses, but returns a future for the result of f(). Throws, context and
// cost: as async with a clause, and as async_future.
template <sync::registration_clause C, std::invocable F>
auto async_future(name n, const C& clause, F&& f,
                  std::source_location site = std::source_location::current()) {
  return sync::spawn_registered(
      sync::suspendable_fiber("async_future"), "async_future", clause, std::forward<F>(f),
      [&](auto&& task) { return async_future(n, std::forward<decltype(task)>(task), site); });
}
template <sync::registration_clause C, std::invocable F>
auto async_future(const C& clause, F&& f,
                  std::source_location site = std::source_location::current()) {
  return async_future(name(nullptr), clause, std::forward<F>(f), site);
}
template <sync::registration_clause C, sync::registration_clause D, std::invocable F>
auto async_future(name n, const C& clause, const D& other, F&& f,
                  std::source_location site = std::source_location::current()) {
  return async_future(n, sync::both(clause, other), std::forward<F>(f), site);
}
template <sync::registration_clause C, sync::registration_clause D, std::invocable F>
auto async_future(const C& clause, const D& other, F&& f,
                  std::source_location site = std::source_location::current()) {
  return async_future(name(nullptr), sync::both(clause, other), std::forward<F>(f), site);
}

// Calls with anything but a function without parameters. They do not compile, and one sentence of
// the compiler says why.
namespace sync {

template <class F>
concept no_task =
    !std::invocable<F> && !registration_clause<F> && !std::same_as<std::remove_cvref_t<F>, name>;

template <class F>
consteval void require_task() {
  static_assert(!no_task<F>,
                "apgas: the task must be a function without parameters, which the task calls: "
                "async([] { f(3); }), not async(f(3)) or async(f, 3)");
}

}  // namespace sync

template <sync::no_task F, class... Rest>
auto async(F&&, Rest&&...) {
  sync::require_task<F>();
}
template <sync::no_task F, class... Rest>
auto async_future(F&&, Rest&&...) {
  sync::require_task<F>();
}

}  // namespace apgas::inline v0
