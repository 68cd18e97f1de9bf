// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <functional>
#include <source_location>
#include <type_traits>
#include <utility>

#include <apgas/sync/task.hpp>

// Tasks.
namespace apgas::inline v0 {

// A name for a task, in reports: async(name("relax"), f). Requires: the text outlives the task.
struct name {
  explicit constexpr name(const char* task_name) noexcept : text(task_name) {}
  const char* text;
};

// Spawns f() as a child task of the innermost enclosing finish, which waits for it and gets what it
// throws. f may be move-only; what it captures by reference must outlive that finish.
//
// Throws: illegal_operation outside a task and inside an atomic section; what copying f throws.
// Context: task. May suspend and resume elsewhere: when very many children wait, some run first.
// Cost: about 5 ns, no allocation for trivially copyable closures up to 40 bytes (boxed otherwise).
// Always inline: g++ would pass the closure through memory, to be copied into the slot from there.
template <std::invocable F>
[[gnu::always_inline]] inline void async(
    F&& f, std::source_location site = std::source_location::current()) {
  sync::spawn(sync::suspendable_fiber("async"), std::forward<F>(f), site);
}

template <std::invocable F>
void async(name n, F&& f, std::source_location site = std::source_location::current()) {
  sync::spawn(
      sync::suspendable_fiber("async"),
      [n, body = std::forward<F>(f)]() mutable {
        sync::name_task(n.text);
        body();
        sync::name_task(nullptr);  // the next task on this stack has none
      },
      site);
}

// Chapel's word for async.
template <std::invocable F>
void begin(F&& f, std::source_location site = std::source_location::current()) {
  async(std::forward<F>(f), site);
}

template <std::invocable F>
void begin(name n, F&& f, std::source_location site = std::source_location::current()) {
  async(n, std::forward<F>(f), site);
}

}  // namespace apgas::inline v0
