// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/sync/task.hpp>

// Letting others go first.
namespace apgas::inline v0 {

// All other ready tasks may run before this one goes on. Fair: a loop on it starves no other ready
// task, unstarted ones and the network included.
//
// Throws: illegal_operation outside a task and inside an atomic section.
// Context: task. May suspend and resume elsewhere. Cost: about 50 ns if nothing else is ready.
inline void yield() {
  sync::suspendable_fiber("yield");
  scheduler::yield();
}

}  // namespace apgas::inline v0
