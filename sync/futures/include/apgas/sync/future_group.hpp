// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <source_location>
#include <span>

#include <apgas/scheduler/fiber.hpp>
#include <apgas/sync/future_core.hpp>
#include <apgas/sync/task_body.hpp>

// Waiting for several futures without a task that waits.
namespace apgas::inline v0::sync {

using awaited_futures = std::span<future_core* const>;

// Runs `body` as a task of the caller's finish, from now on, when all of `awaited` are ready.
// Context: task that may suspend.
void spawn_when_ready(scheduler::fiber& self, awaited_futures awaited, task_body body,
                      const char* name, std::source_location site);

// Publishes `result`, which has its value, when all of `awaited` are ready. Context: any thread.
void publish_when_all(ref<future_core> result, awaited_futures awaited);

// Writes the number of the first of `awaited` that is ready to `index` and publishes `result`. Both
// `index` and references to what is awaited are in the value of `result`. Context: any thread.
void publish_when_any(ref<future_core> result, std::size_t& index, awaited_futures awaited);

}  // namespace apgas::inline v0::sync
