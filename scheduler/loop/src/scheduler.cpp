// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <apgas/base/assert.hpp>
#include <apgas/base/cpu_relax.hpp>
#include <apgas/base/cycles.hpp>
#include <apgas/base/own_threads.hpp>
#include <apgas/errors.hpp>
#include <apgas/scheduler/seeded_schedule.hpp>

#include "context.hpp"
#include "exit_monitor.hpp"
#include "implementation.hpp"
#include "stack_depth.hpp"
#include "stack_overflow.hpp"
#include "stack_pool.hpp"
#include "topology.hpp"

// Starting and stopping workers, and the functions of the scheduler that any thread may call.
//
// Pairs
//   P1  A worker that sees `stopping` sees everything that was written before the destructor of the
//       scheduler was called.
//   P2  When the destructor reads that no call is in progress, the last access of each is over.
//   P3  A thread that reads the number of a worker's thread sees that this thread is bound.
namespace apgas::inline v0::scheduler {
namespace {

slot_array first_slots(std::size_t capacity) {
  slot_array slots = map_slots(capacity);
  if (slots == nullptr) {
    throw launch_error(
        fmt::format("no address space for a worker's deque of {} MiB: {}; raise `ulimit -v`",
                    capacity * sizeof(slot) >> 20U, std::system_category().message(errno)));
  }
  return slots;
}

// Whether the threads of this process share one processor. Only then does a heavy fence interrupt
// no other thread, so that the fallback poller may execute one for each message.
bool on_one_processor() noexcept {
  cpu_set_t own;
  return sched_getaffinity(0, sizeof own, &own) == 0 && CPU_COUNT(&own) == 1;
}

void run_worker(worker& w, int processor, bool owns_locks) {
  const base::own_thread counts;
  prctl(PR_SET_NAME, fmt::format("apgas-{}", w.id).c_str());
  prctl(PR_SET_TIMERSLACK, 1000UL);
  if (processor >= 0) bind_thread(processor);
  auto& s = w.home->internals();
  auto& id = s.thread_ids[static_cast<std::size_t>(w.id)];
  id.store(static_cast<pid_t>(syscall(SYS_gettid)), base::release);  // P3
  const signal_stack alternate(w.running, w.searches);
  const exit_monitor watch(s.settings.on_exit);
  fiber thread;
  thread.on = &w;
  adopt_thread(thread);
  w.thread = &thread;
  w.exceptions = exception_state();
  if (owns_locks) s.settings.network_locks->claim();
  switch_to(thread, take_cached_fiber(w), [](fiber*, void*) {}, nullptr);
  if (owns_locks) s.settings.network_locks->give_up();
  drop_cached_fibers(w);
}

}  // namespace

slot_array map_slots(std::size_t capacity) noexcept {
  void* const at = mmap(nullptr, capacity * sizeof(slot), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return {at == MAP_FAILED ? nullptr : static_cast<slot*>(at), unmap_slots{capacity}};
}

void unmap_slots::operator()(slot* slots) const noexcept { munmap(slots, capacity * sizeof(slot)); }

scheduler::implementation::implementation(const config& c)
    : settings(c),
      schedule(c.schedule != nullptr ? &c.schedule->internals() : nullptr),
      // With a schedule each push is a place where the turn may pass, and no thief need ask.
      fenced(!c.asymmetric_fence || schedule != nullptr || !base::membarrier_available()),
      counted(c.workers),
      thread_ids(static_cast<std::size_t>(c.workers)) {
  APGAS_ASSERT(c.workers > 0);
  APGAS_ASSERT(c.bound_to.empty() || c.bound_to.size() == static_cast<std::size_t>(c.workers));
  reserve_stacks(c.stack_bytes);
  catch_overflows();
  if (c.detailed_statistics) keep_stack_depths();
  const auto n = static_cast<std::size_t>(c.workers);
  const nearness near(c.bound_to);
  const bool first_touches = !c.bound_to.empty() && has_numa_domains();
  for (std::size_t i = 0; i < n; ++i) {
    // What a worker uses most lies in the memory of its domain.
    std::optional<stay_on> near_the_worker;
    if (first_touches) near_the_worker.emplace(c.bound_to[i]);
    workers.push_back(std::make_unique<worker>());
    entries.push_back(std::make_unique<base::cache_aligned<idle_entry>>());
    slot_arrays.push_back(first_slots(c.deque_slots));
    workers[i]->id = static_cast<int>(i);
    workers[i]->times_serialization = c.detailed_statistics;
    observed.push_back(std::make_unique<base::cache_aligned<observed_tasks>>());
    workers[i]->observed = &**observed.back();
    workers[i]->tasks.reset(slot_arrays[i].get(), c.deque_slots, fenced);
    workers[i]->batch_memory = new batch_block{};
    workers[i]->batch.reset(workers[i]->batch_memory->at, batch_block::capacity, fenced);
    workers[i]->victims = victim_order(static_cast<int>(i), c.workers, [&](int a, int b) {
      return c.bound_to.empty()
                 ? 0
                 : near.between(static_cast<std::size_t>(a), static_cast<std::size_t>(b));
    });
  }
  observe(c.observer);
  if (c.observer != nullptr) {
    for (auto& w : workers) w->tasks.begin_observed();  // before the first push
  }
  if (schedule != nullptr) in_schedule = std::make_unique<seeded_place>(*this);
}

// A task of an observed run suspends, so that its wait is seen. With a schedule nothing else runs
// meanwhile.
void scheduler::implementation::update_waits_in_place() noexcept {
  waits_in_place.store(!oversubscribed.load(base::relaxed) && observer.get() == nullptr,
                       base::relaxed);
}

void scheduler::implementation::observe(task_observer* by) noexcept {
  fenced_or_observed.store(fenced || by != nullptr, base::relaxed);
  {
    const std::lock_guard alone(cores.looking);  // look_at_cores() does the same
    observer.set(by);
    update_waits_in_place();
  }
  for (auto& w : workers) {
    if (w->observer.get() == by) continue;
    w->observer.set(by);
    w->tasks.raise_attention();  // the deque follows at the next push
  }
}

scheduler::implementation::~implementation() {
  if (schedule != nullptr) schedule->end();
  in_schedule.reset();
  if (stall_watchdog != nullptr) stall_watchdog->stop();  // it reads what the workers run
  stopping.store(true, base::release);                    // P1
  for (auto& entry : entries) (*entry)->sleep.unpark();
  progress_sleep.unpark();
  for (std::thread& t : threads) t.join();
  if (progress.joinable()) progress.join();
  fallback.reset();  // after the workers have ended, because they arm it
  base::spin_wait wait;
  while ((external_calls.load(base::acquire) & calls_in_progress) != 0) wait.once();  // P2
}

scheduler::scheduler(const config& c)
    : environment_(c.environment), implementation_(new implementation(c)), owner_(implementation_) {
  auto& s = *implementation_;
  for (auto& w : s.workers) w->home = this;
  try {
    if (c.events != nullptr && c.schedule == nullptr) {
      if (c.progress_thread) s.progress = std::thread([&s] { s.serve_network(); });
      s.fallback = std::make_unique<fallback_poller>(
          [&s](parker& sleep) { return s.wait_for_busy_workers(sleep); },
          [&s](bool readable) { return s.poll_for_busy_workers(readable); });
      s.fallback->arm();
    }
    if (c.watchdog_patience.count() != 0 || c.on_deadlock != deadlock_action::none ||
        c.schedule != nullptr) {
      s.stall_watchdog = std::make_unique<watchdog>(s);
    }
    const bool owns_locks = s.workers.size() == 1 && !s.fenced && on_one_processor();
    for (auto& w : s.workers) {
      const int processor = c.bound_to.empty() ? -1 : c.bound_to[static_cast<std::size_t>(w->id)];
      s.threads.emplace_back(
          [&worker = *w, processor, owns_locks] { run_worker(worker, processor, owns_locks); });
    }
  } catch (const std::system_error& e) {
    throw launch_error(fmt::format(
        "no thread for worker {} of {} ({}); lower APGAS_WORKERS or raise the limit `ulimit -u`",
        s.threads.size(), c.workers, e.what()));
  }
}

scheduler::~scheduler() = default;

void scheduler::observe(task_observer* observer) noexcept { implementation_->observe(observer); }

void scheduler::submit(external_task* work) noexcept {
  auto& s = *implementation_;
  const implementation::external_call call(s);
  if (s.fenced_or_observed.load(base::relaxed)) [[unlikely]] {
    if (task_observer* const by = s.observer.get()) work->cause.value = by->submits();
    s.outside.push(work);
    s.notify();
    return;
  }
  s.outside.push(work);
  s.notify_usual();
}

void scheduler::submit_from_poll(external_task* work) noexcept {
  const fiber* const caller = current_fiber();
  worker* const w = caller != nullptr && caller->on->home == this ? caller->on : nullptr;
  if (w != nullptr && w->polls_in_loop && w->polled == nullptr &&
      implementation_->outside.empty()) {
    w->polled = work;
  } else {
    submit(work);
  }
}

void scheduler::wake() noexcept {
  implementation_->arrived.store(true, base::relaxed);
  implementation_->notify();
  if (implementation_->progress.joinable()) implementation_->progress_sleep.unpark();
}

void scheduler::keep_polling() noexcept {
  auto& s = *implementation_;
  if (s.fallback == nullptr) return;
  if (s.fenced) base::full_fence();
  s.fallback->arm();
}

void scheduler::request_poll() noexcept { implementation_->arrived.store(true, base::relaxed); }

void scheduler::submit_at(std::chrono::steady_clock::time_point when, external_task* work) {
  auto& s = *implementation_;
  if (!s.timed.add(when, work)) return;
  if (s.fenced) base::full_fence();
  // The sleeping poller must now sleep for a shorter time.
  if (idle_entry* poller = s.idle.take_sleeping_poller()) poller->sleep.unpark();
}

bool scheduler::cancel_at(std::chrono::steady_clock::time_point when,
                          external_task* work) noexcept {
  return implementation_->timed.remove(when, work);
}

std::chrono::steady_clock::time_point scheduler::now() noexcept {
  turns* const schedule = implementation_->schedule;
  return schedule != nullptr ? schedule->read_time() : std::chrono::steady_clock::now();
}

seeded_schedule* scheduler::schedule() noexcept { return implementation_->settings.schedule; }

std::chrono::steady_clock::time_point time_of_task() noexcept {
  const fiber* const self = current_fiber();
  return self != nullptr ? self->on->home->now() : std::chrono::steady_clock::now();
}

bool has_virtual_time() noexcept {
  const fiber* const self = current_fiber();
  return self != nullptr && self->on->home->schedule() != nullptr;
}

void scheduler::run_on_helper(std::function<void()> work) {
  turns* const schedule = implementation_->schedule;
  if (schedule == nullptr) {
    implementation_->helpers.run(std::move(work));
    return;
  }
  turns::participant& call = schedule->add_call();
  try {
    implementation_->helpers.run([schedule, &call, work = std::move(work)] {
      schedule->await_turn(call);
      work();
      schedule->leave(call);
    });
  } catch (...) {
    schedule->leave(call);
    throw;
  }
}

int scheduler::num_workers() const noexcept {
  return static_cast<int>(implementation_->workers.size());
}

worker& scheduler::worker_at(int id) noexcept {
  return *implementation_->workers[static_cast<std::size_t>(id)];
}

statistics scheduler::stats() const {
  const auto now = std::chrono::steady_clock::now();
  statistics sum;
  sum.elapsed_ns = static_cast<std::uint64_t>((now - implementation_->started).count());
  std::uint64_t serialization_cycles = 0;
  for (const auto& w : implementation_->workers) {
    sum.inlined_tasks += w->count.inlined_tasks;
    sum.loop_tasks += w->count.loop_tasks;
    sum.steal_attempts += w->count.steal_attempts;
    sum.steals += w->count.steals;
    sum.stolen += w->count.stolen;
    sum.fences += w->count.fences;
    sum.sleep_fences += w->count.sleep_fences;
    sum.suspensions += w->count.suspensions;
    sum.drains += w->count.drains;
    sum.sleeps += w->count.sleeps;
    sum.wakeups += w->count.wakeups;
    sum.fibers += w->count.fibers;
    sum.polls += w->count.polls;
    sum.clock_phases += w->count.of_clocks.ended;
    sum.clock_waits += w->count.of_clocks.batched_waits;
    sum.phaser_phases += w->count.of_phasers.ended;
    sum.phaser_waits += w->count.of_phasers.batched_waits;
    serialization_cycles += w->count.serialization_cycles;
    const std::int64_t asleep = w->count.asleep_ns.load(base::relaxed);
    const std::int64_t until_now = asleep < 0 ? asleep + now.time_since_epoch().count() : asleep;
    sum.asleep_ns += static_cast<std::uint64_t>(std::max<std::int64_t>(until_now, 0));
  }
  sum.other_fences = implementation_->other_fences();
  sum.serialization_ns = static_cast<std::uint64_t>(
      static_cast<double>(serialization_cycles) * static_cast<double>(sum.elapsed_ns) /
      static_cast<double>(
          std::max<std::uint64_t>(base::cycles() - implementation_->started_cycles, 1)));
  return sum;
}

std::vector<construct_waits> scheduler::waits() const {
  std::vector<construct_waits> all;
  for (std::string& name : implementation_->constructs.all()) all.push_back({std::move(name)});
  for (const auto& w : implementation_->workers) w->waits.add_to(all);
  return all;
}

std::size_t scheduler::deepest_stack() const {
  return implementation_->suspended().deepest_stack();
}

namespace {

// Resumes a task in a fenced or observed run.
[[gnu::noinline]] void resume_specially(scheduler::implementation& s, ready_queue& to, fiber* f,
                                        std::uint64_t cause) noexcept {
  if (s.schedule != nullptr) s.schedule->note_ready();
  if (task_observer* const by = s.observer.get()) {
    f->cause = cause != 0 ? cause : by->makes_ready(*f);
  }
  to.push(f);
  s.notify();
}

[[gnu::always_inline]] inline void resume_from(std::uint64_t cause, fiber* f) noexcept {
  worker& home = *f->on;  // a fiber never changes its scheduler
  fiber* caller = current_fiber();
  if (caller != nullptr && caller->on->home == home.home) {
    worker& w = *caller->on;
    auto& s = w.home->internals();
    if (s.fenced_or_observed.load(base::relaxed)) [[unlikely]]
      return resume_specially(s, w.ready, f, cause);
    w.ready.push(f);
    s.notify_usual();
  } else {
    auto& s = home.home->internals();
    const scheduler::implementation::external_call call(s);
    if (s.fenced_or_observed.load(base::relaxed)) [[unlikely]]
      return resume_specially(s, home.ready, f, cause);
    home.ready.push(f);
    s.notify_usual();
  }
}

}  // namespace

void resume(fiber* f) noexcept { resume_from(0, f); }
void resume(fiber* f, std::uint64_t cause) noexcept { resume_from(cause, f); }

}  // namespace apgas::inline v0::scheduler
