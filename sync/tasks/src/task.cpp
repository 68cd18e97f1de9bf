// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/task.hpp>

#include <fmt/format.h>

#include <apgas/errors.hpp>
#include <apgas/sync/place_state.hpp>

#include "failures.hpp"

// The parts of spawning that are not on the fast path.
namespace apgas::inline v0::sync {

int place_id_of(const scheduler::fiber& self) noexcept { return place_of(self).here; }

hidden_attributes::~hidden_attributes() {
  scheduler::fiber& self = *scheduler::current_fiber();
  if (self.task.rare.has_attributes != 0) scheduler::clear_attributes(self);
  self.task = task_;
  self.hidden = hidden_.below;
}

void throw_outside_task(const char* operation) {
  throw illegal_operation(
      fmt::format("{} was called outside a task: on a thread of your own, or before apgas::run; "
                  "call it from the function given to apgas::run or runtime::run, or from a task "
                  "spawned there",
                  operation));
}

void throw_inside_atomic(const char* operation) {
  throw illegal_operation(fmt::format(
      "{} was called inside a critical section, which may neither spawn nor wait; do it before or "
      "after the section, or wait for a condition with apgas::when",
      operation));
}

}  // namespace apgas::inline v0::sync
