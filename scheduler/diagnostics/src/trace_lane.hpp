// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <apgas/base/cache_line.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/scheduler/owner_count.hpp>
#include <apgas/scheduler/trace_recorder.hpp>

#include "event_ring.hpp"
#include "text_table.hpp"

// What one worker, or all other threads together, have recorded.
namespace apgas::inline v0::scheduler {

struct trace_recorder::texts {
  text_table table;
};

struct alignas(base::cache_line_bytes) trace_recorder::lane {
  lane(std::size_t bytes, std::uint32_t thread_number) : ring(bytes), thread(thread_number) {}

  event_ring ring;
  const std::uint32_t thread;
  // How many have been numbered, also in earlier recordings.
  owner_count flows;
  owner_count waits;
  text_cache cache;
  base::spin_lock lock;  // for the lane of the other threads
};

// Holds the lock of a lane if it is shared.
struct trace_recorder::lane_guard {
  lane_guard(lane& l, bool is_shared) noexcept : on(l), shared(is_shared) {
    if (shared) on.lock.lock();
  }
  lane_guard(const lane_guard&) = delete;
  lane_guard& operator=(const lane_guard&) = delete;
  ~lane_guard() {
    if (shared) on.lock.unlock();
  }
  lane& on;
  const bool shared;
};

}  // namespace apgas::inline v0::scheduler
