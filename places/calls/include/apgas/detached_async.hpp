// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <memory>
#include <source_location>
#include <type_traits>
#include <utility>

#include <apgas/sync/remote_task.hpp>
#include <apgas/sync/task.hpp>

namespace apgas::inline v0 {
namespace remote {

// Runs a detached task: the task_thunk of its frame, which the place has sent to itself.
// Context: task, fresh.
template <class F>
scheduler::task_counter* run_detached(sync::remote_task& task, scheduler::fiber& self) {
  self.task.site = sync::decode_site(task.site);
  scheduler::task_described(self);
  const std::unique_ptr<F> f(static_cast<F*>(sync::take_local_closure(task)));
  try {
    (*f)();
  } catch (...) {
    sync::task_failed(self);
  }
  return task.finish;
}

}  // namespace remote

// Spawns f() as a task at this place for which no finish of the program waits. Only apgas::run
// (run.hpp), or the end of a runtime, waits for it. If an exception leaves f, place 0 prints it on
// standard error at the end of `run`, and `run` returns 1. f may be move-only and is called once; a
// value that it returns is discarded. The task begins without registrations, and without values of
// task_local objects. For other places there is uncounted_async_at (at.hpp).
//
//   log_file log;
//   apgas::detached_async([log = std::move(log)] { log.write_all(); });
//
// Throws: illegal_operation outside a task and inside `atomic` or `when`; what copying or moving f
// throws; std::bad_alloc. There is no task then.
// Context: task. May suspend and resume on another worker, as uncounted_async_at.
// Cost: a message of the place to itself, and an allocation.
template <std::invocable F>
void detached_async(F&& f, std::source_location site = std::source_location::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("detached_async");
  using closure = std::decay_t<F>;
  auto held = std::make_unique<closure>(std::forward<F>(f));
  sync::send_local_closure(self, comm::id_of<&remote::run_detached<closure>>(), held.get(), site);
  static_cast<void>(held.release());  // NOLINT(bugprone-unused-return-value): the task deletes it
}

}  // namespace apgas::inline v0
