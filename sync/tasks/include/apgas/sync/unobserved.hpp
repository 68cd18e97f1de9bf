// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>

#include <apgas/exceptions.hpp>

// Exceptions of futures that nobody has looked at. Each is in a list from the end of its task until
// somebody looks, or the future goes, or the run ends; in the latter two cases it is reported, by
// place_state::unobserved or on standard error. One lock for the process guards the list, so that a
// future may outlive its place.
namespace apgas::inline v0::sync {

struct place_state;

// What a failed future keeps.
struct failure {
  std::exception_ptr error;
  place_state* place = nullptr;  // of the task that failed; null: not reported (a promise)
  spawn_site site;

  // Guarded by the lock of the list.
  failure* next = nullptr;
  failure* previous = nullptr;
  bool listed = false;
};

// Enters f, which has a place, in the list. Context: any thread.
void list_unobserved(failure& f) noexcept;
// Somebody looked: not reported any more. Context: any thread.
void forget_unobserved(failure& f) noexcept;
// The future of f goes: reports f if it is in the list. Context: any thread.
void report_if_unobserved(failure& f) noexcept;

// Reports everything in the list that failed at `place`, which may go then.
// Context: any thread, when all tasks of the place have ended.
void report_all_unobserved(place_state& place) noexcept;

}  // namespace apgas::inline v0::sync
