// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <source_location>
#include <span>

#include <apgas/base/api.hpp>
#include <apgas/scheduler/fiber.hpp>
#include <apgas/sync/future_core.hpp>
#include <apgas/sync/task_body.hpp>

// Waiting for several futures without keeping a task for it.
namespace apgas::inline v0::sync {

using awaited_futures = std::span<future_core* const>;

// Runs `body` as a task of the caller's finish when all of `awaited` are ready. The task counts in
// the finish from this call on. Throws: std::bad_alloc. Context: task that may suspend.
APGAS_API void spawn_when_ready(scheduler::fiber& self, awaited_futures awaited, task_body body,
                                const char* name, std::source_location site);

// Publishes `result`, which contains its value already, when all of `awaited` are ready.
// Throws: std::bad_alloc. Context: any thread.
APGAS_API void publish_when_all(ref<future_core> result, awaited_futures awaited);

// When the first of `awaited` is ready, writes its position to `index` and publishes `result`.
// `index` and handles of the awaited futures are part of the value of `result`.
// Throws: std::bad_alloc. Context: any thread.
APGAS_API void publish_when_any(ref<future_core> result, std::size_t& index,
                                awaited_futures awaited);

}  // namespace apgas::inline v0::sync
