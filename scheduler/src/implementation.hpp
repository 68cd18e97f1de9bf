// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include <apgas/base/cache_line.hpp>
#include <apgas/scheduler/scheduler.hpp>

#include "helpers.hpp"
#include "idle.hpp"
#include "injector.hpp"
#include "parker.hpp"
#include "poll_guard.hpp"
#include "timers.hpp"
#include "trace.hpp"
#include "watchdog.hpp"

// What a scheduler consists of, in the order of construction.
namespace apgas::inline v0::scheduler {

// A worker's entry in the idle list.
struct idle_seat {
  idle_seat* next = nullptr;
  bool watching = false;
  parker sleep;
};

struct unmap_slots {
  void operator()(slot* slots) const noexcept;
};
using slot_array = std::unique_ptr<slot, unmap_slots>;

struct scheduler::implementation {
  explicit implementation(const config& c);
  implementation(const implementation&) = delete;
  implementation& operator=(const implementation&) = delete;
  ~implementation();  // stops the workers that were started

  // Work was made visible to all: wakes a sleeper if nobody searches. Context: any thread.
  void notify() noexcept {
    if (fenced) base::full_fence();
    if (idle.wanted()) wake_one();
  }
  void wake_one() noexcept;

  // A thread that is no worker of this scheduler is inside a call that makes work visible: the work
  // may end the program, but the scheduler must outlive the call.
  class visit {
   public:
    explicit visit(implementation& s) noexcept : visitors_(s.visitors) {
      visitors_.fetch_add(1, base::relaxed);
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    ~visit() { visitors_.fetch_sub(1, base::release); }  // P2 of scheduler.cpp

   private:
    base::atomic<int>& visitors_;
  };

  // Looks at the network and the timers, unless another worker is at it. True if anything came.
  bool poll_outside(worker& w) noexcept;

  // For the poll guard: polls if no worker did since the last call; whether something is pending.
  bool poll_for_busy_workers() noexcept;

  // What came from outside waits for a worker while all run tasks: each gives way at its next spawn
  // or the next task that it takes back, and the loop takes some from outside. Context: any thread.
  void want_turn() noexcept;

  // Whether any queue of this scheduler has something. A hint, exact only after a heavy fence.
  bool anything_to_do() const noexcept;

  // Sleeps until woken; false when the scheduler stops.
  void sleep(worker& w) noexcept;

  // Sleeps until something may have come from outside, or `limit`. True: woken. Context: one
  // thread at a time.
  bool watch(parker& sleep, unsigned& idle_polls, std::chrono::nanoseconds limit) noexcept;
  // Looks at the network unless somebody else does. True if anything came.
  bool poll_network() noexcept;
  void serve_network() noexcept;  // what the progress thread does

  config settings;
  bool fenced = false;
  std::vector<std::vector<int>> victims;  // of each worker, nearest first
  std::vector<std::unique_ptr<worker>> workers;
  std::vector<std::unique_ptr<base::cache_aligned<idle_seat>>> seats;
  std::vector<slot_array> slot_arrays;
  std::unique_ptr<trace_file> trace;

  idle_list<idle_seat> idle;
  injector outside;
  timers timed;
  base::spin_lock network_seat;       // held by the worker that polls
  base::atomic<bool> arrived{false};  // wake() since the last poll
  base::atomic<int> turns_wanted{0};
  base::atomic<bool> stopping{false};
  base::atomic<int> visitors{0};

  base::atomic<std::uint64_t> polls{0};  // of the network, by whom ever
  std::uint64_t polls_seen = 0;          // by the guard
  std::unique_ptr<poll_guard> guard;     // with events only

  helper_threads helpers;
  std::vector<std::thread> threads;
  parker progress_sleep;
  std::thread progress;
  std::unique_ptr<watchdog> dog;  // the first to end
};

// What a worker runs between tasks (loop.cpp): entered on a fiber of its own.
void loop(fiber* self) noexcept;

// Enters `to`; `after` runs there for the fiber left. Returns when `self` is entered again.
void switch_to(fiber& self, fiber& to, void (*after)(fiber*, void*), void* argument) noexcept;
void arrived_on(fiber& self) noexcept;

// A fiber that waits in its loop, made if need be; and the way back, as the `after` of a switch.
fiber& take_spare(worker& w) noexcept;
void keep_spare(fiber* f, void* on_worker) noexcept;
void drop_spares(worker& w) noexcept;

// Whether tasks that were resumed wait for this worker. A hint.
inline bool has_resumed(const worker& w) noexcept { return !w.ready.empty() || !w.batch.empty(); }

// Makes `b` the batch of `w`, whose last one is used up.
void begin_batch(worker& w, batch_block* b) noexcept;

// Gives up a unit of `counter` at loop level and enters the fiber that it was the last for.
void complete(fiber& self, task_counter& counter) noexcept;

// drain.cpp
void drain(fiber& self, slot* floor) noexcept;
void run_drain(fiber& self) noexcept;
fiber& spawner_of(const slot& continuation) noexcept;

}  // namespace apgas::inline v0::scheduler
