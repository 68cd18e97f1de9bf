// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <apgas/errors.hpp>
#include <apgas/sync/place_state.hpp>
#include <apgas/sync/task.hpp>
#include <apgas/sync/watched_cell.hpp>

namespace apgas::inline v0::sync {

void watched_cell::begin_write(const char* operation) {
  const scheduler::fiber& self = task_fiber(operation);
  monitor_core& of = of_ != nullptr ? *of_ : place_of(self).atomic_sections;
  if (!of.held_by(self)) {
    throw illegal_operation(
        fmt::format("{} was called outside a critical section of the monitor that guards the cell; "
                    "call it inside {}",
                    operation, of_ != nullptr ? "monitor::atomic" : "apgas::atomic"));
  }
  of.mark(waiting_);
}

section_queue* watched_cell::queue_in(const monitor_core* of, const char* operation) {
  if (of_ != of) {
    throw illegal_operation(
        fmt::format("{} was given a cell that another monitor guards; make the cell with {}",
                    operation, of != nullptr ? "this monitor" : "no monitor"));
  }
  return &waiting_;
}

}  // namespace apgas::inline v0::sync
