// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <apgas/sync/finish_core.hpp>
#include <apgas/sync/offer_box.hpp>

// The steps at the end of a finish, which the finish of a coroutine takes as well.
namespace apgas::inline v0::sync {

// Ends the body of the finish: drops the clocks that the running task made in it, and runs the
// children above `mark` that are still in the deque.
// Context: task. May suspend and resume on another worker.
void run_own_children(scheduler::fiber& self, finish_core& core,
                      const scheduler::frame_mark& mark) noexcept;

// Makes `outer` the innermost finish again, when no task of `core` is left, and returns the offers
// of a finish_reduce. Throws: multiple_exceptions with what tasks and body threw.
std::unique_ptr<offer_box> close_finish(scheduler::fiber& self, finish_core& core,
                                        scheduler::task_counter* outer);

}  // namespace apgas::inline v0::sync
