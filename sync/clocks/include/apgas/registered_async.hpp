// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <source_location>
#include <utility>

#include <apgas/async.hpp>
#include <apgas/future.hpp>
#include <apgas/sync/registered_task.hpp>

// Tasks that are registered on clocks and phasers from the start:
//   async(clocked(c1, c2), f)    async(phased(ph, mode), f)    async(clocked(c), phased(ph, mode),
//   f)
// The child is registered before it can run. async_future takes the same clauses, and both take a
// name before them.
//
// Throw: as async and async_future; clock_use_error, phaser_use_error. If anything is thrown, there
// is no child. Cost: about 30 ns more than without a clause.
namespace apgas::inline v0 {
namespace sync {

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

}  // namespace apgas::inline v0
