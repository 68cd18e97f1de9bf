// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include <sys/types.h>

#include <apgas/base/cache_line.hpp>
#include <apgas/base/cycles.hpp>
#include <apgas/scheduler/scheduler.hpp>

#include "cores_watch.hpp"
#include "external_queue.hpp"
#include "fallback_poller.hpp"
#include "helper_threads.hpp"
#include "idle.hpp"
#include "observed.hpp"
#include "parker.hpp"
#include "stack_pool.hpp"
#include "timers.hpp"
#include "turns.hpp"
#include "watchdog.hpp"

// The parts of a scheduler, in the order of their construction, and the functions that the files of
// this room share.
namespace apgas::inline v0::scheduler {

// A worker's entry in the idle list.
struct idle_entry {
  idle_entry* next = nullptr;
  idle_entry* previous = nullptr;
  bool listed = false;
  parker sleep;
};

struct unmap_slots {
  std::size_t capacity = 0;
  void operator()(slot* slots) const noexcept;
};
using slot_array = std::unique_ptr<slot, unmap_slots>;
// Returns an array for the deque of a worker; null, with errno set, if there is no memory for it.
// It takes memory only as it is used.
slot_array map_slots(std::size_t capacity) noexcept;

// What the schedule asks of this scheduler (turns.hpp).
class seeded_place final : public turns::place {
 public:
  // Adds the workers of `of` to its schedule.
  explicit seeded_place(scheduler::implementation& of);
  seeded_place(const seeded_place&) = delete;
  seeded_place& operator=(const seeded_place&) = delete;
  ~seeded_place();

  turns::time next_timer() const noexcept override;
  bool is_stuck() noexcept override;
  void explain_with(turns::explain_function f) noexcept override { explain_ = std::move(f); }
  void report_deadlock(std::span<turns::place* const> all) noexcept override;

 private:
  scheduler::implementation& of_;
  turns::explain_function explain_;
};

struct scheduler::implementation {
  explicit implementation(const config& c);
  implementation(const implementation&) = delete;
  implementation& operator=(const implementation&) = delete;
  ~implementation();  // stops the workers that were started

  // Must be called after work was made visible in a queue: wakes a worker if none searches and one
  // sleeps.
  // Context: any thread.
  void notify() noexcept {
    if (fenced) base::full_fence();
    if (idle.wanted()) wake_one();
  }
  // The same where neither `fenced` nor an observer requires more.
  void notify_usual() noexcept {
    if (idle.wanted()) wake_one();
  }
  void wake_one() noexcept;

  // Lives while a thread that is not a worker of this scheduler is inside a call that makes work
  // visible. The work may end the program, but the scheduler must outlive the call, so its
  // destructor waits for such calls.
  class external_call {
   public:
    explicit external_call(implementation& s) noexcept : external_calls_(s.external_calls) {
      external_calls_.fetch_add(one_more_external_call, base::relaxed);
    }
    external_call(const external_call&) = delete;
    external_call& operator=(const external_call&) = delete;
    ~external_call() { external_calls_.fetch_sub(1, base::release); }  // P2 of scheduler.cpp

   private:
    base::atomic<std::uint32_t>& external_calls_;
  };
  // The lower half of external_calls says how many such calls are in progress. The upper half grows
  // with each call, so that the watchdog notices calls between two looks.
  static constexpr std::uint32_t one_more_external_call = 0x1'0001;
  static constexpr std::uint32_t calls_in_progress = 0xffff;

  // Finds out whether the cores of the workers have changed (cores_watch.hpp). To be called if
  // cores.is_due(). Context: any thread.
  void look_at_cores(cores_watch::time now) noexcept;
  // Sets waits_in_place after what it depends on has changed.
  void update_waits_in_place() noexcept;

  // Where a worker polls. A scheduling loop looks at w.polled afterwards. Where a worker has
  // nothing else to do, the network looks for arrivals again and again (idle_looks).
  enum class poll_kind : std::uint8_t { loop, search, between_tasks };
  // Submits expired timers and polls the network, unless another thread is polling it. Returns
  // whether there was anything.
  bool poll_outside(worker& w, poll_kind kind) noexcept;
  bool fire_timers() noexcept;  // the first part of that

  // For the fallback poller. wait_for_busy_workers() sleeps until it is time to poll, which is when
  // something arrives, if there is a descriptor and workers poll rarely, and, on shared cores, none
  // searches. poll_for_busy_workers() polls if no worker did since the last call, or if the
  // descriptor was readable, and returns whether the fallback poller is still needed.
  parker::wake wait_for_busy_workers(parker& sleep) noexcept;
  bool poll_for_busy_workers(bool readable) noexcept;

  // See scheduler::observe().
  void observe(task_observer* by) noexcept;

  // Makes room for external tasks while all workers are busy: each worker leaves its current task
  // at the next spawn, or at the next child that it takes back from its deque, and its scheduling
  // loop takes external tasks first for a while.
  // Context: any thread.
  void prefer_external_tasks() noexcept;

  // Leads each worker to its scheduling loop in the same way that has had resumed tasks, and has
  // not been there, since the last look. Looks once in a while. Context: the fallback poller.
  void prefer_resumed_tasks(std::chrono::steady_clock::time_point now) noexcept;

  // Must be called where a worker chooses work. Does not return once another thread has called
  // scheduler::halt().
  void stop_if_halted(const worker& w) noexcept;

  // The suspended tasks, with what the watchdog has noted of them; without one, with what earlier
  // requests for a report have.
  suspended_tasks& suspended() noexcept {
    return stall_watchdog != nullptr ? stall_watchdog->tasks : on_request;
  }
  // See statistics::other_fences. Context: any thread.
  std::uint64_t other_fences() const noexcept {
    return settings.network_locks->fences() + on_request.fences() +
           (fallback != nullptr ? fallback->fences() : 0) +
           (stall_watchdog != nullptr ? stall_watchdog->tasks.fences() : 0);
  }
  bool observes_waits() const noexcept {
    return stall_watchdog != nullptr && stall_watchdog->observes();
  }

  // Returns whether any queue of this scheduler contains work. The answer is exact only after a
  // heavy fence.
  bool anything_to_do() const noexcept;

  // Puts the worker to sleep until it is woken, unless there is work after all. Returns whether
  // another thread has woken it.
  bool sleep(worker& w) noexcept;

  // The same with a seeded schedule; and passes the turn (seeded_loop.cpp).
  // Requires: schedule != nullptr.
  void sleep_by_seed(worker& w) noexcept;
  void pass_turn(const worker& w) noexcept;

  // Sleeps as the poller: until something may have arrived, but not longer than `limit`. Returns
  // whether the sleeper was unparked. `idle_polls` is the number of successive polls that found
  // nothing.
  // Context: one thread at a time.
  bool sleep_as_poller(parker& sleep, unsigned& idle_polls,
                       std::chrono::nanoseconds limit) noexcept;
  // Polls the network, unless another thread is polling it. Returns whether anything arrived.
  bool poll_network(unsigned looks = 0) noexcept;
  // How often such a poll looks where a worker has nothing else to do; see external_events.
  unsigned idle_looks() const noexcept { return oversubscribed.load(base::relaxed) ? 0 : 32; }
  void serve_network() noexcept;  // the progress thread runs this

  config settings;
  const std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
  const std::uint64_t started_cycles = base::cycles();
  turns* const schedule;  // null unless the run has a seed
  bool fenced = false;
  observer_pointer observer;
  base::atomic<bool> fenced_or_observed{false};  // one test for both
  base::atomic<bool> waits_in_place{true};       // see poll_in_place()
  const workers_with_stacks counted;
  std::vector<std::unique_ptr<worker>> workers;
  std::vector<std::unique_ptr<base::cache_aligned<idle_entry>>> entries;
  std::vector<slot_array> slot_arrays;
  std::vector<base::atomic<pid_t>> thread_ids;  // of the workers; 0 before they run
  std::vector<std::unique_ptr<base::cache_aligned<observed_tasks>>> observed;  // of each worker
  observed_pool observed_memory;
  std::vector<turns::participant*> participants;  // of the schedule, for each worker
  construct_names constructs;                     // in which tasks have waited
  suspended_tasks on_request{workers};            // see suspended()

  // What different threads write is on different lines; docs/scaling.md has the table.
  alignas(base::cache_line_bytes) idle_list<idle_entry> idle;  // lock and counts: by searches
  alignas(base::cache_line_bytes) external_queue outside;
  alignas(base::cache_line_bytes) timers timed;

  // Read by each choice of a worker, and rarely written: for a message at most.
  alignas(base::cache_line_bytes) base::atomic<bool> arrived{false};  // a poll may find something
  // How many external tasks the loops take before anything else (prefer_external_tasks).
  base::atomic<int> preferred_external_tasks{0};
  base::atomic<bool> stopping{false};
  // More workers than processors: searching workers yield.
  base::atomic<bool> oversubscribed{settings.oversubscribed || schedule != nullptr};
  base::atomic<bool> halted{false};  // see halt.cpp
  const worker* not_halted = nullptr;
  base::atomic<int> stopped_workers{0};

  // Written by each poll of the network, by any thread.
  alignas(base::cache_line_bytes) base::spin_lock poller_lock;  // held while polling
  base::atomic<std::uint64_t> polls{0};

  // For prefer_resumed_tasks(): when it looks again, and the choices that each worker had made.
  std::chrono::steady_clock::time_point resumed_look_at;
  std::vector<std::uint64_t> choices_seen =
      std::vector<std::uint64_t>(static_cast<std::size_t>(settings.workers));

  // A look at this place waits until nobody polls: the sleeping poller does not poll meanwhile.
  base::atomic<bool> look_waits{false};

  // Written by each call of a thread that is not a worker of this scheduler.
  alignas(base::cache_line_bytes) base::atomic<std::uint32_t> external_calls{0};

  // Read by searches, each time they read the clock.
  alignas(base::cache_line_bytes) cores_watch cores;

  // Used by the fallback poller only: the value of `polls` when it last polled and when it last
  // began to wait, and the number of successive polls for the descriptor that brought no task.
  alignas(base::cache_line_bytes) std::uint64_t polls_seen = 0;
  std::uint64_t polls_before = 0;
  unsigned futile_polls = 0;
  std::unique_ptr<fallback_poller> fallback;  // null without events

  helper_threads helpers{settings.on_exit};
  std::vector<std::thread> threads;
  parker progress_sleep;
  std::thread progress;
  std::unique_ptr<watchdog> stall_watchdog;  // destroyed before all above
  std::unique_ptr<seeded_place> in_schedule;
};

// The scheduling loop, which a worker runs between tasks (loop.cpp). It is the outermost function
// of every fiber.
void loop(fiber* self) noexcept;
// The same for a seeded schedule (seeded_loop.cpp).
void seeded_loop(fiber* self) noexcept;

// Switches from `self` to `to`, where after(&self, argument) is called. Returns when `self` is
// entered again.
void switch_to(fiber& self, fiber& to, void (*after)(fiber*, void*), void* argument) noexcept;
// Runs `after` of the switch that entered `self`.
void arrived_on(fiber& self) noexcept;

// Returns a fiber without a task, suspended in its scheduling loop; creates one if the worker has
// none.
fiber& take_cached_fiber(worker& w) noexcept;
// Gives such a fiber back to the worker `on_worker`; it has the form of the `after` of a switch.
void cache_fiber(fiber* f, void* on_worker) noexcept;
void drop_cached_fibers(worker& w) noexcept;

// Tells thieves that the batch of `w`, which calls it, has been used up.
inline void batch_is_over(worker& w) noexcept {
  if (w.may_have_batch.load(base::relaxed)) w.may_have_batch.store(false, base::relaxed);
}

// Gives the blocks that `w` is to pass on to their own workers. Context: `w`, in its loop.
void pass_on_blocks(worker& w) noexcept;

// Returns whether the worker has resumed tasks that wait to run. The answer may be out of date.
inline bool has_resumed(const worker& w) noexcept { return !w.ready.empty() || !w.batch.empty(); }

// Returns whether the worker of a running task has anything else to do than to wait for the end of
// another task or for a message.
bool has_other_work(const worker& w) noexcept;

// Makes `b` the batch of worker `w`. Requires: its previous batch is used up.
void begin_batch(worker& w, batch_block* b) noexcept;

// Releases the count of a task that the scheduling loop has run. If it was the last one, enters the
// waiting fiber.
void complete(fiber& self, task_counter& counter) noexcept;

// Draining (drain.cpp): suspends `self` and runs its tasks from `floor` up on another fiber; what
// that fiber does; and the spawner to which a continuation slot belongs.
void drain(fiber& self, slot* floor) noexcept;
void run_drain(fiber& self) noexcept;
fiber& spawner_of(const slot& continuation) noexcept;

}  // namespace apgas::inline v0::scheduler
