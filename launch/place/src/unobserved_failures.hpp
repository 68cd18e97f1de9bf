// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <apgas/base/spin_lock.hpp>
#include <apgas/exceptions.hpp>
#include <apgas/sync/place_state.hpp>

// The exceptions of futures that nobody looked at: kept at each place until the end of the program,
// then thrown by the root finish.
namespace apgas::inline v0::launch {

// The place_state of a running place.
struct runtime_state : sync::place_state {
  base::spin_lock lock;  // of what follows
  std::vector<task_exception> failures;
};

// Makes futures tell this state of their failures.
void keep_unobserved(runtime_state& state) noexcept;

// Throws what was kept at all places, if anything was, as one multiple_exceptions.
// Context: task, when all others have ended; may suspend. Cost: a message to each place.
void throw_unobserved();

}  // namespace apgas::inline v0::launch
