// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <functional>
#include <source_location>
#include <type_traits>
#include <utility>

#include <apgas/sync/task.hpp>

// Spawning tasks. A task belongs to the innermost enclosing finish, which waits for it:
//
//   apgas::finish([&] {
//     apgas::async([&] { left = search(first_half); });
//     right = search(second_half);
//   });
//   // Both results are there.
namespace apgas::inline v0 {

// Names the task that is spawned with it: async(name("relax"), f). Reports, traces and the
// description of a task_exception show the name.
// Requires: the text outlives the task; a string literal does. Context: any thread. Cost: none.
struct name {
  explicit constexpr name(const char* task_name) noexcept : text(task_name) {}
  const char* text;
};

// Spawns f() as a child task of the innermost enclosing finish. The finish waits for the task and
// collects the exception that leaves it. f may be move-only and is called once; a value it returns
// is discarded. What f captures by reference must outlive that finish, not only the calling
// function. `site` is filled in by the compiler and appears in reports. X10's async.
//
// Throws: illegal_operation outside a task and inside `atomic` or `when`; what copying or moving f
// throws.
// Context: task. A suspension point: when very many children are waiting to run, some of them run
// first, so the caller may suspend and resume on another worker.
// Cost: about 5 ns. A trivially copyable closure of up to 40 bytes needs no allocation; any other
// is allocated on the heap.
template <std::invocable F>  // always inline, or g++ would pass the closure through memory
[[gnu::always_inline]] inline void async(
    F&& f, std::source_location site = std::source_location::current()) {
  sync::spawn(sync::suspendable_fiber("async"), std::forward<F>(f), site);
}

// The same for a task with a name, which makes the closure 8 bytes larger. Throws, Context: as
// above.
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

// The same as async, in Chapel's word.
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
