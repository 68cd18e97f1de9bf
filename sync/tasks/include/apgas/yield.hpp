// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/sync/task.hpp>

// Letting other tasks of the worker run first.
namespace apgas::inline v0 {

// Lets all other ready tasks of the place run before the calling task goes on. It is fair: a loop
// that calls it starves no other ready task, neither tasks that have not started nor the handling
// of messages. Use it in a loop that polls a flag of another task.
//
//   std::atomic<bool> done = false;
//   apgas::finish([&] {
//     apgas::async([&] { done = true; });
//     while (!done) apgas::yield();
//   });
//
// Throws: illegal_operation outside a task and inside `atomic` or `when`.
// Context: task. May suspend and resume on another worker. Cost: about 50 ns if nothing else is
// ready.
inline void yield() {
  sync::suspendable_fiber("yield");
  scheduler::yield();
}

}  // namespace apgas::inline v0
