// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <apgas/comm/rank.hpp>
#include <apgas/scheduler/fiber.hpp>
#include <apgas/sync/finish_core.hpp>
#include <apgas/sync/place_state.hpp>

// Which call of another place the task on a fiber serves, for reports of programs that hang. The
// task keeps that in the frame of the function that began it, and nothing else knows it, so that it
// costs nothing to run a call.
namespace apgas::inline v0::sync {

struct served_call {
  comm::rank caller = 0;
  std::uint64_t number = 0;  // of the call at the caller; meaningless if the task is no call
  finish_core* finish = nullptr;
};

// Searches the outermost frames of a fiber, which must not run, for the task of another place that
// the fiber has begun. Returns nothing if there is none. Requires: the scheduling loop has started
// an external task on the fiber. Context: any thread.
std::optional<served_call> served_call_of(const scheduler::fiber& f, const place_state& place);

}  // namespace apgas::inline v0::sync
