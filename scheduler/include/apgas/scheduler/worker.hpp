// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include <apgas/scheduler/deque.hpp>
#include <apgas/scheduler/fiber.hpp>
#include <apgas/scheduler/ready_queue.hpp>

// What a worker thread owns, and the ways in which a task leaves its worker. The spawning paths of
// sync are inline over `tasks`; everything else is in src/.
namespace apgas::inline v0::scheduler {

class scheduler;

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
  deque<slot> tasks;

  // Owner only.
  scheduler* home = nullptr;
  int id = 0;
  fiber* spare = nullptr;  // cached fibers, each waiting in its loop
  int spares = 0;
  std::uint32_t turns = 0;  // selections of work, for fairness
  std::uint32_t direct_switches = 0;
  int last_victim = 0;
  std::uint64_t stolen_at = 0;   // cycle count at the last steal, 0 when judged
  std::uint64_t steal_cost = 0;  // cycles that the last steal took
  std::uint64_t steal_again_at = 0;
  std::uint64_t steal_pause = 0;
  std::uintptr_t* exceptions = nullptr;  // of this thread, see fiber::exceptions
  fiber* thread = nullptr;               // the thread's own stack
  const fiber* running = nullptr;        // for the report of an overflow

  // What the fiber just entered does for the one just left.
  fiber* left = nullptr;
  void (*after)(fiber*, void*) = nullptr;
  void* after_argument = nullptr;

  // Counted for APGAS_STATS and the tests; see scheduler::statistics.
  struct {
    owner_count steals, stolen, suspensions, drains, sleeps, fibers, polls;
  } count;

  ready_queue ready;  // resumed fibers; thieves take from it as well
};

// Where the tasks of a frame begin in its worker's deque, as long as its fiber was not left.
struct frame_mark {
  explicit frame_mark(const fiber& self) noexcept
      : base(self.on->tasks.head()), generation(self.generation) {}
  frame_mark(slot* lowest, std::uint64_t left) noexcept : base(lowest), generation(left) {}
  slot* base;
  std::uint64_t generation;
};

// Runs the tasks that the frames of `self` have above the mark (or above fiber::base, when the
// fiber was left since), newest first, on the stack of the caller, who waits for them.
inline void run_children(fiber& self, const frame_mark& mark) {
  for (;;) {
    deque<slot>& tasks = self.on->tasks;
    slot* const from = self.generation == mark.generation ? mark.base : self.base;
    slot* const s = tasks.head() - 1;
    if (s < from) return;
    if (tasks.pop(s)) {
      self.task.site = s->site;
      s->run(*s, self);
    }
  }
}

// Leaves the current fiber: every slot of its frames is counted, and after(fiber, argument) is
// called on another stack. Context: task. May resume elsewhere.
void leave(fiber& self, void (*after)(fiber*, void*), void* argument) noexcept;

// Suspends the current task: when its context is saved, after(fiber*) runs on another stack of the
// same worker and hands the fiber to whoever will resume it, which may happen before it returns.
// Context: task. May resume elsewhere. Cost: about 20 ns with resume.
template <class F>
void suspend(F after) noexcept {
  leave(
      *current_fiber(),
      [](fiber* self, void* argument) {
        F hand_over(std::move(*static_cast<F*>(argument)));  // the stack may be gone before it ends
        hand_over(self);
      },
      &after);
}

// Makes a suspended task ready. Context: any thread; once per suspension.
void resume(fiber* f) noexcept;

// The current task lets all other ready work go first. Context: task. May resume elsewhere.
void yield() noexcept;

// A push returned true: wakes a sleeper, runs some of the tasks of `self` when there are too many,
// or refuses when the deque is full. `drainable`: the pushed slot is an async.
void attend(fiber& self, bool drainable);

// Parks the current fiber until the last other unit of `counter` is gone.
// Context: owner of the counter. May resume elsewhere.
void wait_for_others(task_counter& counter) noexcept;

// Gives up a unit that is held without a task of its own (a remote credit, a helper thread).
// Context: any thread.
void release_unit(task_counter& counter) noexcept;

}  // namespace apgas::inline v0::scheduler
