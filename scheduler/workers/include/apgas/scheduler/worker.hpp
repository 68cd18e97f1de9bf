// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include <apgas/scheduler/batch.hpp>
#include <apgas/scheduler/deque.hpp>
#include <apgas/scheduler/fiber.hpp>
#include <apgas/scheduler/ready_queue.hpp>

// What a worker thread owns, and the ways in which a task leaves its worker. The spawning paths of
// sync are inline over `tasks`; everything else is in src/.
namespace apgas::inline v0::scheduler {

class scheduler;
class trace_log;

// A number that one thread counts and others may read.
class owner_count {
 public:
  void operator+=(std::uint64_t n) noexcept {
    value_.store(value_.load(base::relaxed) + n, base::relaxed);
  }
  void operator++() noexcept { *this += 1; }
  operator std::uint64_t() const noexcept { return value_.load(base::relaxed); }

 private:
  base::atomic<std::uint64_t> value_{0};
};

struct alignas(base::cache_line_bytes) worker {
  worker() = default;
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  ~worker();

  deque<slot> tasks;

  // Owner only.
  scheduler* home = nullptr;
  int id = 0;
  fiber* cached_fibers = nullptr;  // cached fibers, each waiting in its loop
  int num_cached_fibers = 0;
  std::uint32_t turns = 0;  // selections of work, for fairness
  std::uint32_t direct_switches = 0;
  std::uint32_t phases_in_a_row = 0;  // that tasks went through without leaving (sync)
  int last_victim = 0;
  std::uint64_t stolen_at = 0;   // cycle count at the last steal, 0 when judged
  std::uint64_t steal_cost = 0;  // cycles that the last steal took
  std::uint64_t steal_again_at = 0;
  std::uint64_t steal_pause = 0;
  std::uintptr_t* exceptions = nullptr;  // of this thread, see fiber::exceptions
  fiber* thread = nullptr;               // the thread's own stack
  const fiber* running = nullptr;        // for the report of an overflow
  trace_log* trace = nullptr;            // null unless a trace is written

  // What the fiber just entered does for the one just left.
  fiber* left = nullptr;
  void (*after)(fiber*, void*) = nullptr;
  void* after_argument = nullptr;

  // The batch that is being run, and what its source has not been told (batch.hpp).
  batched_arrivals arrivals;
  batch_block* batch_memory = nullptr;  // the array under `batch`
  batch_block* free_blocks = nullptr;
  int free_block_count = 0;

  // Counted for APGAS_STATS and the tests; see scheduler::statistics.
  struct {
    owner_count steals, stolen, suspensions, drains, sleeps, fibers, polls;
  } count;

  // Thieves take from these as well.
  ready_queue ready;        // resumed fibers
  deque<fiber_slot> batch;  // what is left of the batch
};

// Where the tasks of a frame begin in its worker's deque, as long as its fiber was not left.
struct frame_mark {
  explicit frame_mark(const fiber& self) noexcept
      : base(self.on->tasks.head()), generation(self.generation) {}
  frame_mark(slot* lowest, std::uint64_t left) noexcept : base(lowest), generation(left) {}
  slot* base;
  std::uint64_t generation;
};

// The body of a task has ended that left its name or registrations behind.
void end_special(fiber& self) noexcept;

// Site and name of the running task are known now, for the trace. Context: task.
void describe_to_trace(fiber& self) noexcept;
inline void task_described(fiber& self) noexcept {
  if (self.on->trace != nullptr) [[unlikely]]
    describe_to_trace(self);
}

// Runs the tasks that the frames of `self` have above the mark (or above fiber::base, when the
// fiber was left since), newest first, on the stack of the caller, who waits for them; or counts
// what is left of them, when others shall have a turn.
inline void run_children(fiber& self, const frame_mark& mark) {
  for (;;) {
    deque<slot>& tasks = self.on->tasks;
    slot* const from = self.generation == mark.generation ? mark.base : self.base;
    slot* const s = tasks.head() - 1;
    if (s < from) return;
    if (tasks.pop(s)) {
      self.task.site = s->site;
      s->run(*s, self);
      if (self.task.is.special != 0) [[unlikely]]
        end_special(self);
    } else if (tasks.head() != s) {  // refused
      return;
    }
  }
}

// Leaves the current fiber: every slot of its frames is counted, and after(fiber, argument) is
// called on another stack. `waits_for`, for reports, lives as long as the program.
// Context: task. May resume elsewhere.
void leave(fiber& self, const char* waits_for, void (*after)(fiber*, void*),
           void* argument) noexcept;

// Suspends the current task: when its context is saved, after(fiber*) runs on another stack of the
// same worker and hands the fiber to whoever will resume it, which may happen before it returns.
// Context: task. May resume elsewhere. Cost: about 20 ns with resume.
template <class F>
void suspend(const char* waits_for, F after) noexcept {
  leave(
      *current_fiber(), waits_for,
      [](fiber* self, void* argument) {
        F hand_over(std::move(*static_cast<F*>(argument)));  // the stack may be gone before it ends
        hand_over(self);
      },
      &after);
}

// Makes a suspended task ready. Context: any thread; once per suspension.
void resume(fiber* f) noexcept;

// ---- tasks that go on together (batch.hpp); all in context: worker ------------------------------

// Makes sure that the next park_in() of this worker has room, also after its tally was settled and
// a batch begun. Throws: std::bad_alloc.
inline constexpr int reserved_blocks = 3;
void add_free_blocks(worker& w);
inline void reserve_block(worker& w) {
  if (w.free_block_count < reserved_blocks) [[unlikely]]
    add_free_blocks(w);
}

// An empty block of this worker. Requires: reserve_block().
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

// Adds a fiber to a list of blocks of this worker. Requires: reserve_block().
inline void park_in(worker& w, batch_block*& list, batch_source* of, fiber* f) noexcept {
  if (list == nullptr || list->size == batch_block::capacity) list = take_block(w, of, list);
  list->at[list->size++] = {.task = f, .stack = f->stack_pointer};
}

// Adds the blocks of `more` to `list`; both of one worker.
void join_blocks(worker& w, batch_block*& list, batch_block* more) noexcept;

// Makes the tasks of a list of blocks ready, on the workers that they were left on.
void resume_blocks(worker& w, batch_block* list) noexcept;

// The next task of the batch that `w` runs, or null.
inline fiber* next_of_batch(worker& w) noexcept {
  fiber_slot s{};
  return w.batch.take_top(s) ? s.task : nullptr;
}
// The same for the usual case, where no thief is near: null also when one is.
[[gnu::always_inline]] inline fiber* next_of_batch_fast(worker& w) noexcept {
  fiber_slot s{};
  if (!w.batch.take_top_fast(s)) return nullptr;
  // The records and stacks of those that follow lie far apart.
  const fiber_slot* const head = w.batch.head();
  if (head - w.batch_memory->at >= 4) {
    __builtin_prefetch(head[-4].task);
    const auto* const stack = static_cast<const char*>(head[-2].stack);
    __builtin_prefetch(stack);
    __builtin_prefetch(stack - 64);
  }
  return s.task;
}

// Leaves the current fiber, which the caller noted in the tally, for `to`, of the same batch.
// Requires: may_pass(self), or is_light(self) and its slots are published.
// Context: task. May resume elsewhere. Cost: about 5 ns.
void pass_rarely(fiber& self, fiber& to) noexcept;
void arrive_rarely() noexcept;
[[gnu::always_inline]] inline void pass(fiber& self, fiber& to) noexcept {
  if (to.has_exceptions != 0) [[unlikely]]
    return pass_rarely(self, to);
  worker& w = *self.on;
  ++self.generation;
  w.left = nullptr;
  w.running = &to;
  to.on = &w;
  switch_context(self, to);
  fiber& now = *fiber_after_call();
  worker& here = *now.on;
  if (here.left != nullptr) [[unlikely]]
    return arrive_rarely();
  now.base = here.tasks.head();
}
// Whether nothing need be done when this fiber is left, but for its slots.
[[gnu::always_inline]] inline bool is_light(const fiber& self) noexcept {
  const worker& w = *self.on;
  return (w.exceptions[0] | w.exceptions[1] | self.has_canary) == 0;
}
[[gnu::always_inline]] inline bool may_pass(const fiber& self) noexcept {
  return is_light(self) && self.on->tasks.is_published();
}

// Whether the worker's newest task is a member of `source` that has not started. A hint: thieves
// may take it.
inline bool starts_next(const worker& w, const batch_source* source) noexcept {
  return !w.tasks.empty() && w.tasks.head()[-1].is_member_of(source);
}

// Makes the tally one of `source`, with room for a task, if it can be. Requires: the batch of the
// worker is used up. Context: worker.
bool prepare_arrivals(worker& w, batch_source* source) noexcept;

// For pass(): a fiber that goes on with the loop, which takes the next member, or settles. What the
// tasks of the worker have spawned is published.
fiber& cached_fiber_to_pass_to(worker& w) noexcept;

// Tells what is in the tally, before the worker does anything else (batch.hpp).
inline void flush_arrivals(worker& w) noexcept {
  if (w.arrivals.noted()) w.arrivals.of->flush_arrivals(w);
}

// For batch_source::settle(): what was noted; the worker goes on with an empty tally. The block may
// be empty, and belongs to the caller if it is not.
batched_arrivals take_arrivals(worker& w) noexcept;

// The current task lets all other ready work go first. Context: task. May resume elsewhere.
void yield() noexcept;
// The same, and the loop chooses what is next, the network included: for chains of tasks that
// resume each other without ever entering the loop.
void yield_to_loop() noexcept;

// A push returned true: wakes a sleeper, runs some of the tasks of `self` when there are too many,
// or refuses when the deque is full. `drainable`: the pushed slot is an async.
void attend(fiber& self, bool drainable);

// Parks the current fiber until the last other unit of `counter` is gone; `construct`: of which it
// is. Context: owner of the counter. May resume elsewhere.
void wait_for_others(task_counter& counter, const char* construct) noexcept;

// Gives up a unit that is held without a task of its own (a remote credit, a helper thread).
// Context: any thread.
void release_count(task_counter& counter) noexcept;

}  // namespace apgas::inline v0::scheduler
