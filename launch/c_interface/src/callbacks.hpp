// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <utility>

#include <apgas/c.h>
#include <apgas/sync/task_locals.hpp>

#include "errors.hpp"

// What a task of the C interface has besides, and how a callback is called in a task.
namespace apgas::inline v0::launch {

// A value of task-local storage, which a task makes when it first needs it.
class c_task final : public sync::local_value {
 public:
  // Returns the value of the running task, or null if it has none.
  static c_task* find(const scheduler::fiber& self) noexcept;
  // The same, but makes the value. Throws: std::bad_alloc.
  static c_task& get(scheduler::fiber& self);

  ~c_task() override;

  const std::uint64_t id;
  void* pointer = nullptr;
  apgas_finish_state* innermost = nullptr;  // of the finishes that the running callback has begun

 private:
  c_task();
};

// Begins a callback of the running task: hides the finishes that the caller has begun, and returns
// the innermost of them.
apgas_finish_state* begin_callback() noexcept;
// Ends it: ends the finishes that it has left open, whose exceptions go to the enclosing finish,
// and shows those of the caller again. Returns whether none was open. May suspend.
bool end_callback(apgas_finish_state* outer) noexcept;

// Calls f(), which calls a function of the user. Throws: what f throws; unended_finish.
// Context: task. May suspend.
template <class F>
void call_back(F&& f) {
  apgas_finish_state* const outer = begin_callback();
  std::exception_ptr failure;
  try {
    f();
  } catch (...) {
    failure = std::current_exception();
  }
  const bool ended = end_callback(outer);  // outside of the catch block, because it may suspend
  if (failure != nullptr) std::rethrow_exception(std::move(failure));
  if (!ended) throw unended_finish();
}

}  // namespace apgas::inline v0::launch
