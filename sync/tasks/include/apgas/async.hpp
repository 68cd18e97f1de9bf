// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <functional>
#include <source_location>
#include <type_traits>
#include <utility>

#include <apgas/sync/task.hpp>

// Spawning tasks at this place (at.hpp spawns them at other places). A task belongs to the
// innermost enclosing finish, which waits for it. apgas.hpp explains the words of the contracts.
//
//   long left = 0;
//   long right = 0;
//   apgas::finish([&] {
//     apgas::async([&] { left = fib(20); });
//     right = fib(19);
//   });
//   // Both results are there.
namespace apgas::inline v0 {

// A name for a task: async(name("relax"), f). Reports, traces and the description of a
// task_exception show it.
//
//   apgas::async(apgas::name("relax"), [] { work(); });
//
// Requires: the text outlives the task; a string literal does.
// Throws nothing. Context: any thread. Cost: none.
struct name {
  // From the text `task_name`, which is stored as a pointer.
  explicit constexpr name(const char* task_name) noexcept : text(task_name) {}
  const char* text;
};

// Spawns f() as a task of the innermost enclosing finish, and returns. That is the finish in whose
// body, or in whose task, the call is; `apgas::run` surrounds the whole program with one. The
// finish waits for the task and collects the exception that leaves it. The task may run on any
// worker of this place, and tasks run in no particular order. It sees what the caller wrote before
// the call.
//
// f may be move-only and is called once; a value it returns is discarded. What f captures by
// reference must outlive the finish, not only the function that calls async. The task is registered
// on no clock or phaser; for that, there is async with a clause (registered_async.hpp). `site` is
// filled in by the compiler and appears in reports. X10's async.
//
// Throws: illegal_operation outside a task and inside `atomic` or `when`; what copying or moving f
// throws. There is no task then.
// Context: task. May suspend, and may resume on another worker: if very many tasks of the caller
// wait to run, some of them run first; if messages wait for a worker and all are busy, the caller
// lets them go first.
// Cost: about 5 ns. A trivially copyable closure of up to 40 bytes needs no allocation; any other
// is allocated on the heap.
template <std::invocable F>  // always inline, or g++ would pass the closure through memory
[[gnu::always_inline]] inline void async(
    F&& f, std::source_location site = std::source_location::current()) {
  sync::spawn(sync::suspendable_fiber("async"), std::forward<F>(f), site);
}

// The same for a task with a name, which makes the closure 8 bytes larger.
// Throws, Context, Cost: as above.
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

// The same as async, by the name that Chapel uses.
//
//   apgas::begin([] { work(); });
template <std::invocable F>
void begin(F&& f, std::source_location site = std::source_location::current()) {
  async(std::forward<F>(f), site);
}

// The same as async with a name.
template <std::invocable F>
void begin(name n, F&& f, std::source_location site = std::source_location::current()) {
  async(n, std::forward<F>(f), site);
}

}  // namespace apgas::inline v0
