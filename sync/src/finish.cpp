// SPDX-License-Identifier: Apache-2.0
#include <apgas/finish.hpp>
#include <apgas/forall.hpp>
#include <apgas/sync/place_state.hpp>
#include <fmt/format.h>

#include <memory>
#include <mutex>

#include "failures.hpp"
#include "finish_details.hpp"

// The parts of finish, async and fork_join that are off the fast path.
namespace apgas::inline v0 {

int detail::workers_here(const scheduler::fiber& self) noexcept {
  return self.on->home->num_workers();
}

namespace sync {

finish_details& finish_core::need_details() {
  finish_details* present = details();
  if (present != nullptr) return *present;
  auto made = std::make_unique<finish_details>();
  if (details_.compare_exchange_strong(present, made.get(), base::acq_rel, base::acquire)) {  // P1
    return *made.release();
  }
  return *present;
}

void task_failed(scheduler::fiber& self) noexcept {
  const spawn_site site = site_of(self.task);
  self.task.name = nullptr;
  finish_details& details = finish_of(self).need_details();
  std::vector<task_exception> caught;  // copies of user exceptions are made outside the lock
  collect_current(caught, place_id_of(self), site);
  std::lock_guard guard(details.lock);
  for (task_exception& e : caught) details.exceptions.push_back(std::move(e));
}

int place_id_of(const scheduler::fiber& self) noexcept { return place_of(self).here; }

// The exceptions of an ended finish, and the end of its details.
void finish_frame::close_details() {
  const std::unique_ptr<finish_details> details(core_.details());
  if (!details->exceptions.empty()) throw multiple_exceptions(std::move(details->exceptions));
}

void branch_failures::add() {
  const scheduler::fiber& self = *scheduler::current_fiber();
  const spawn_site site{.file = site_.file_name(), .line = site_.line(),
                        .function = site_.function_name(), .task_name = {}};
  collect_current(exceptions_, place_id_of(self), site);
}

void branch_failures::raise() { throw multiple_exceptions(std::move(exceptions_)); }

void throw_outside_task(const char* operation) {
  throw illegal_operation(fmt::format(
      "{} was called outside a task: on a thread of your own, or before apgas::run; call it from the "
      "function given to apgas::run or from a task spawned there",
      operation));
}

void throw_inside_atomic(const char* operation) {
  throw illegal_operation(fmt::format(
      "{} was called inside an atomic section, which may neither spawn nor wait; do it before or "
      "after the section, or wait for a condition with apgas::when",
      operation));
}

}  // namespace sync
}  // namespace apgas::inline v0
