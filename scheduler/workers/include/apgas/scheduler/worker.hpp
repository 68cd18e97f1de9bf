// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include <apgas/base/api.hpp>
#include <apgas/scheduler/batch.hpp>
#include <apgas/scheduler/deque.hpp>
#include <apgas/scheduler/fiber.hpp>
#include <apgas/scheduler/owner_count.hpp>
#include <apgas/scheduler/ready_queue.hpp>
#include <apgas/scheduler/steal_policy.hpp>
#include <apgas/scheduler/wait_counts.hpp>

// A worker: the data of a worker thread, and the operations by which a task leaves its fiber
// (suspend, resume, yield). The spawn paths of sync are inline and use `tasks` directly; the
// scheduling loop is in scheduler/loop.
namespace apgas::inline v0::scheduler {

class scheduler;
class task_observer;
struct observed_tasks;
struct external_task;

// What module sync counts of the clocks, or of the phasers: the phases that this worker has ended,
// and the waits of tasks in its batches, which are suspensions without leave().
struct phase_counts {
  owner_count ended;
  owner_count batched_waits;
};

// The observer of a run, which may begin and end while tasks run (scheduler::observe()).
//
// Pairs
//   P1  A thread that gets an observer sees the complete object.
class observer_pointer {
 public:
  // Null unless the run is observed. Cost: that of a plain load, if it is null.
  task_observer* get() const noexcept {
    if (to_.load(base::relaxed) == nullptr) [[likely]]
      return nullptr;
    return to_.load(base::acquire);  // P1
  }
  void set(task_observer* to) noexcept { to_.store(to, base::release); }  // P1

 private:
  base::atomic<task_observer*> to_{nullptr};
};

struct alignas(base::cache_line_bytes) worker {
  worker() = default;
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  ~worker();

  deque<slot> tasks;

  // Used by the owner only.
  scheduler* home = nullptr;
  int id = 0;
  fiber* cached_fibers = nullptr;  // fibers without a task, suspended in their scheduling loop
  int num_cached_fibers = 0;
  std::uint32_t direct_switches = 0;  // switches that bypassed the scheduling loop
  bool yielded = false;               // a task has yielded since steals_first() was last true
  std::uint32_t phases_in_a_row = 0;  // advances of tasks that did not leave the worker (sync)
  steal_pace pace;
  victim_order victims;
  std::uintptr_t* exceptions = nullptr;     // of this thread, see fiber::exceptions
  fiber* thread = nullptr;                  // the thread's own stack
  observer_pointer observer;                // any thread sets it (task_observer.hpp)
  base::atomic<bool> holds_resumed{false};  // the watchdog sets it: P4 of suspended_tasks.hpp
  bool polls_in_loop = false;               // its loop, with nothing else to do, polls the network
  external_task* polled = nullptr;          // to be run next; see scheduler::submit_from_poll
  observed_tasks* observed = nullptr;       // memory for the observed tasks that the worker spawns
  bool times_serialization = false;         // config::detailed_statistics

  // Written by the owner; the watchdog reads them, too.
  owner_count choices;                          // of the scheduling loop, for fairness
  base::atomic<const fiber*> running{nullptr};  // also for the report of a stack overflow
  base::atomic<bool> searches{false};           // its scheduling loop has found no work

  // The fiber that is entered calls after(left, after_argument) for the fiber that was left.
  fiber* left = nullptr;
  void (*after)(fiber*, void*) = nullptr;
  void* after_argument = nullptr;

  // Of the batch that the worker runs (batch.hpp): its arrivals, its block, and unused blocks.
  batched_arrivals arrivals;
  batch_block* batch_memory = nullptr;
  batch_block* free_blocks = nullptr;
  int free_block_count = 0;
  bool in_lock_step = false;  // the worker has begun a batch since it last slept

  // Counters for APGAS_STATS and the tests; see statistics.
  struct {
    owner_count inlined_tasks;  // run without the scheduling loop
    owner_count loop_tasks;     // run by it
    owner_count steal_attempts, steals, stolen, fences, suspensions, drains;
    owner_count sleeps, sleep_fences, wakeups, fibers, polls;
    phase_counts of_clocks, of_phasers;
    owner_count serialization_cycles;
    // How long the worker has slept, in ns; while it sleeps, less the time of the steady clock at
    // which it fell asleep, and so negative. One word, so that readers see either.
    base::atomic<std::int64_t> asleep_ns{0};
  } count;

  // Thieves take from these, too.
  alignas(base::cache_line_bytes) ready_queue ready;  // resumed fibers
  // Whether there may be a batch. Thieves that only look read this, and not the batch, whose lines
  // the worker writes for each task. It is set before a batch begins, and cleared after its end.
  base::atomic<bool> may_have_batch{false};
  deque<fiber_slot> batch;  // the tasks of the batch that have not run yet

  wait_counts waits;  // the suspensions by construct; `count` has their sum
};

// Marks where the slots of a frame begin in the deque of its worker. It is valid until the fiber is
// left, which changes the generation.
struct frame_mark {
  explicit frame_mark(const fiber& self) noexcept
      : base(self.on->tasks.head()), generation(self.generation) {}
  frame_mark(slot* lowest, std::uint64_t left) noexcept : base(lowest), generation(left) {}
  slot* base;
  std::uint64_t generation;
};

// Ends a task that has attributes, which are a name, registrations and values of task_local
// objects: notifies its extensions and clears them. Context: task, when its body has ended.
APGAS_API void clear_attributes(fiber& self) noexcept;

// Tells the observer, if there is one, the spawn site and the name of the running task. Called when
// they have become known.
// Context: task.
APGAS_API void describe_to_observer(fiber& self) noexcept;
inline void task_described(fiber& self) noexcept {
  if (self.on->observer.get() != nullptr) [[unlikely]]
    describe_to_observer(self);
}

// Runs a task that has been taken from the deque of `w`. Context: task, of that worker.
[[gnu::always_inline]] inline void run_child(worker& w, slot& s, fiber& self) {
  w.count.inlined_tasks.add_one();
  self.task.site = s.site;
  s.run(s, self);
  if (self.task.rare.has_attributes != 0) [[unlikely]]
    clear_attributes(self);
}

// Runs the task in `s` after a pop_fast() in vain, unless a thief has taken it. Returns false if
// the pop was refused. It is a function of its own, so that run_children() keeps nothing in
// registers across it. Context: as run_children().
bool run_child_slowly(fiber& self, slot* s);

// Runs the tasks that the frames of `self` have in the deque above `mark`, newest first, on the
// stack of the caller, which waits for them. If the fiber was left after the mark was set, the
// tasks begin at fiber::base instead. If a pop is refused (deque::refuse_pop()), it returns early;
// then the remaining tasks are counted.
// Context: task. May resume on another worker.
inline void run_children(fiber& self, const frame_mark& mark) {
  for (;;) {
    worker& w = *self.on;
    slot* const from = self.generation == mark.generation ? mark.base : self.base;
    slot* const s = w.tasks.head() - 1;
    if (s < from) return;
    if (w.tasks.pop_fast(s)) [[likely]] {
      run_child(w, *s, self);
    } else if (!run_child_slowly(self, s)) {
      return;
    }
  }
}

// Leaves the current fiber: counts all slots of its frames, saves its context, and calls
// after(self, argument) on another stack of the same worker. `waits_for` names what the task waits
// for in reports.
// Context: task. Suspends; may resume on another worker.
APGAS_API void leave(fiber& self, const wait_record& waits_for, void (*after)(fiber*, void*),
                     void* argument) noexcept;
// The same, but the worker keeps its batched arrivals until after(), which flushes them.
void leave_with_arrivals(fiber& self, const wait_record& waits_for, void (*after)(fiber*, void*),
                         void* argument) noexcept;

// Suspends the current task. When its context is saved, after(fiber*) runs on another stack of the
// same worker. It hands the fiber to the code that will resume it, which may happen before after()
// returns. `waits_for` is as for leave().
// Context: task. May resume on another worker. Cost: about 20 ns together with resume().
template <class F>
void suspend(const wait_record& waits_for, F after) noexcept {
  leave(
      *current_fiber(), waits_for,
      [](fiber* self, void* argument) {
        F hand_over(std::move(*static_cast<F*>(argument)));  // the task may end before it returns
        hand_over(self);
      },
      &after);
}

// Makes a suspended task ready to run. It must be called exactly once for each suspension. If the
// calling thread is a worker of the same scheduler, the task is put into its ready queue, otherwise
// into that of the worker which the task was suspended on.
// Context: any thread.
APGAS_API void resume(fiber* f) noexcept;
// The same for a task whose event had happened before it was suspended. In an observed run, `cause`
// is passed on to task_observer::resumes(). If it is 0, the caller counts as what made the task
// ready, as above.
void resume(fiber* f, std::uint64_t cause) noexcept;

// ---- batches (batch.hpp); the context of all these functions is: worker -------------------------

// Makes sure that the next park_in() of this worker finds a free block, even if the worker flushes
// its batched arrivals and begins a batch in between.
// Throws: std::bad_alloc.
inline constexpr int reserved_blocks = 3;
APGAS_API void add_free_blocks(worker& w);
inline void reserve_block(worker& w) {
  if (w.free_block_count < reserved_blocks) [[unlikely]]
    add_free_blocks(w);
}

// Takes a free block of this worker for tasks of the source `of`, and links it before the list
// `next`.
// Requires: reserve_block().
inline batch_block* take_block(worker& w, batch_source* of, batch_block* next) noexcept {
  batch_block* const b = w.free_blocks;
  w.free_blocks = b->next;
  --w.free_block_count;
  b->next = next;
  b->source = of;
  b->on = &w;
  b->size = 0;
  return b;
}

// Adds a fiber that was left on this worker to a list of blocks, which may be of several workers.
// Requires: reserve_block().
inline void park_in(worker& w, batch_block*& list, batch_source* of, fiber* f) noexcept {
  if (list == nullptr || list->size == batch_block::capacity || list->on != &w) {
    list = take_block(w, of, list);
  }
  list->at[list->size++] = {.task = f, .stack = f->stack_pointer};
}

// Adds the fibers of the blocks in `more`, which are of worker `w`, to `list`, which may contain
// blocks of other workers.
void join_blocks(worker& w, batch_block*& list, batch_block* more) noexcept;

// Makes the tasks of a list of blocks ready to run, each on the worker that it was suspended on.
// `together`: gives the whole list to the worker of the first block, which passes the others on.
// That one may be busy; then thieves take blocks from it.
void resume_blocks(worker& w, batch_block* list, bool together = false) noexcept;

// Removes and returns the next task of the batch that `w` runs; null if there is none.
inline fiber* next_of_batch(worker& w) noexcept {
  fiber_slot s{};
  return w.batch.take_top(s) ? s.task : nullptr;
}
// The same without a lock: also returns null if a thief may be taking that task.
[[gnu::always_inline]] inline fiber* next_of_batch_fast(worker& w) noexcept {
  fiber_slot s{};
  if (!w.batch.take_top_fast(s)) return nullptr;
  // The records and stacks of the next tasks lie far apart, so they are prefetched.
  const fiber_slot* const head = w.batch.head();
  if (head - w.batch_memory->at >= 4) {
    __builtin_prefetch(head[-4].task);
    const auto* const stack = static_cast<const char*>(head[-2].stack);
    __builtin_prefetch(stack);
    __builtin_prefetch(stack - 64);
  }
  return s.task;
}

// Switches from the current fiber to `to`, the next task of the same batch. The caller has added
// the current task to the batched arrivals. switch_slow() and arrive_slow() are its slow paths,
// before and after the switch.
// Requires: may_switch_fast(self), or needs_no_saving(self) and its slots are published.
// Context: task. May resume on another worker. Cost: about 5 ns.
APGAS_API void switch_slow(fiber& self, fiber& to) noexcept;
APGAS_API void arrive_slow() noexcept;
[[gnu::always_inline]] inline void switch_fast(fiber& self, fiber& to) noexcept {
  if (to.has_exceptions != 0) [[unlikely]]
    return switch_slow(self, to);
  worker& w = *self.on;
  self.generation.add_one();
  w.left = nullptr;
  w.running.store(&to, base::relaxed);
  to.on = &w;
  switch_context(self, to);
  fiber& now = *fiber_after_call();
  worker& here = *now.on;
  if (here.left != nullptr) [[unlikely]]
    return arrive_slow();
  now.base = here.tasks.head();
}
// Returns whether this fiber can be left without saving exceptions or checking a canary.
[[gnu::always_inline]] inline bool needs_no_saving(const fiber& self) noexcept {
  const worker& w = *self.on;
  return (w.exceptions[0] | w.exceptions[1] | self.must_save) == 0;
}
// Returns whether, in addition, all slots are published already.
[[gnu::always_inline]] inline bool may_switch_fast(const fiber& self) noexcept {
  return needs_no_saving(self) && self.on->tasks.is_published();
}

// Returns whether the newest task in the deque is one for which `source` waits. A thief may still
// take that task.
inline bool starts_next(const worker& w, const batch_source* source) noexcept {
  return !w.tasks.empty() && w.tasks.head()[-1].is_member_of(source);
}

// Prepares the worker to batch arrivals of `source`. Returns whether there is room for another one.
// Requires: the batch of the worker is used up.
bool prepare_arrivals(worker& w, batch_source* source) noexcept;

// Returns a cached fiber for switch_fast(). Its scheduling loop starts the next member, or flushes
// the batched arrivals. Publishes the slots of the worker first.
fiber& cached_fiber_to_switch_to(worker& w) noexcept;

// Flushes the batched arrivals to their source. To be called before the worker does anything but
// run the next task of the batch (see batched_arrivals).
inline void flush_arrivals(worker& w) noexcept {
  if (w.arrivals.noted()) w.arrivals.of->flush_arrivals(w);
}

// For batch_source::flush_arrivals(): returns the batched arrivals and leaves the worker without
// any. If the block of waiting tasks is not empty, it belongs to the caller.
batched_arrivals take_arrivals(worker& w) noexcept;

// Lets all other ready tasks run first. Context: task. May resume on another worker.
APGAS_API void yield() noexcept;
// The same, but always through the scheduling loop, which also looks at the network and at external
// tasks. For tasks that would otherwise resume each other without ever entering the loop.
// Context: task. May resume on another worker.
void yield_to_loop() noexcept;

// Answers a push to the deque that returned true. Wakes a sleeping worker if one is needed; if the
// deque holds too many tasks of `self`, drains them (drain.cpp); if it is full, yields until it is
// not. `drainable`: the slot that was pushed is an async.
// Context: task. May resume on another worker.
APGAS_API void attend(fiber& self, bool drainable);

// Suspends the current task until all counts of `counter` but the owner's have been released.
// Returns at once if there are none. `waits_for` is as for leave().
// Context: owner of the counter. May resume on another worker.
void wait_for_others(task_counter& counter, const wait_record& waits_for) noexcept;

// For a task that waits for a stolen one: keeps the worker for up to a microsecond. Returns true as
// soon as all counts of `counter` but the owner's have been released. Returns false if that takes
// longer, or the worker has anything else to do, such as to poll, or must share its processor.
// Context: owner of the counter.
bool others_end_soon(const task_counter& counter) noexcept;

// Releases a count that no task holds, but for example the credit of a remote finish or a helper
// thread. Resumes the waiter, or notifies the observer, if it was the last one.
// Context: any thread.
APGAS_API void release_count(task_counter& counter) noexcept;

}  // namespace apgas::inline v0::scheduler
