// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>

#include <apgas/exceptions.hpp>

// Reports the exceptions of futures that no task has observed, so that none is lost. When a task
// fails, its failure enters a list, and it leaves the list when some task observes the future. If
// the future is destroyed or the run ends before, the failure is reported by
// place_state::unobserved, or on standard error where that is null. One lock for the whole process
// guards the list, because a future may outlive its place.
namespace apgas::inline v0::sync {

struct place_state;

// What a future that failed keeps.
struct failure {
  std::exception_ptr error;
  place_state* place = nullptr;  // where the task failed; null for a promise, which is not reported
  spawn_site site;

  // Guarded by the lock of the list.
  failure* next = nullptr;
  failure* previous = nullptr;
  bool listed = false;
};

// Puts f in the list. Requires: f.place is not null. Context: any thread.
void list_unobserved(failure& f) noexcept;
// Takes f off the list, since its future was observed. Context: any thread.
void forget_unobserved(failure& f) noexcept;
// Reports f if it is in the list. Called when its future is destroyed. Context: any thread.
void report_if_unobserved(failure& f) noexcept;

// Reports every failure in the list that occurred at `place`. Afterwards no failure refers to the
// place, which may be destroyed. Context: any thread, once all tasks of the place have ended.
void report_all_unobserved(place_state& place) noexcept;

}  // namespace apgas::inline v0::sync
