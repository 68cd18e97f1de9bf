// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <source_location>

#include <apgas/base/api.hpp>
#include <apgas/base/atomic.hpp>
#include <apgas/scheduler/owner_count.hpp>
#include <apgas/scheduler/slot.hpp>
#include <apgas/scheduler/wait_record.hpp>

// A fiber: a stack that tasks run on, with its saved context. Running code finds its fiber from the
// stack pointer alone, because all stacks come from one range of addresses, each stack is aligned
// to its size, and the record of its fiber lies at its top. No thread_local is read, since a task
// may continue on another thread after any suspension.
namespace apgas::inline v0::scheduler {

struct worker;
struct fiber;

// Data that the layer above attaches to a task: its registrations on clocks and phasers, and its
// values of task_local objects.
class task_extension {
 public:
  task_extension() = default;
  task_extension(const task_extension&) = delete;
  task_extension& operator=(const task_extension&) = delete;

  // Called when the body of the task has ended; `self` still has the state of the task.
  // Context: task.
  virtual void task_ended(fiber& self) noexcept = 0;

  // Reports the edges of the wait-for graph that lead to the task, whose fiber is `self`.
  // Context: as wait_explainer.
  virtual void explain(const fiber& self, wait_explainer& to) const {
    static_cast<void>(self);
    static_cast<void>(to);
  }
  // What the task waits for if its fiber has no record: it waits in a batch.
  virtual wait_record waits_for() const { return {nullptr}; }

 protected:
  ~task_extension() = default;
};

// Bits of task_state::rare.has_attributes.
enum task_attributes : std::uint32_t {
  is_described = 1,          // by a name or registrations
  has_locals = 2,            // values of task_local objects
  has_inherited_locals = 4,  // of which its children get copies
  is_observed_branch = 8,    // of a fork_join, which its fork runs itself (task_observer.hpp)
};

// The properties of the running task that its children inherit, or that errors and reports mention.
struct task_state {
  task_extension* registrations = nullptr;  // clocks and phasers (sync)

  // Properties that few tasks have, so that one test of a word rules out all of them.
  struct alignas(8) rare_properties {
    std::uint32_t atomic_depth = 0;    // nested critical sections
    std::uint32_t has_attributes = 0;  // the task_attributes that the task has
  };
  rare_properties rare{};

  task_counter* finish = nullptr;    // of the innermost enclosing finish
  std::source_location site{};       // the spawn site
  const char* name = nullptr;        // given by apgas::name, or null
  task_extension* locals = nullptr;  // values of task_local objects (sync)

  bool plain() const noexcept { return std::bit_cast<std::uint64_t>(rare) == 0; }
};

// A task with registrations that waits below the running one on the same stack.
struct hidden_task {
  const task_state* task;
  const hidden_task* below;
  const char* construct;  // in which it waits: a static text
  call_site where;        // the line of that call; line 0: unknown
};

// The record of a fiber. Everything that is used whenever a fiber is left or entered lies in its
// first cache line: the records of all fibers have the same position in their pages, so they
// compete for the same few sets of the caches.
struct alignas(64) fiber {
  // Written by the worker that runs the fiber, read by the frames on it.
  worker* on = nullptr;
  owner_count generation;  // grows when frame_marks taken so far become invalid
  slot* base = nullptr;    // head of the deque when the fiber was last resumed

  // Written when the fiber is left or entered.
  void* stack_pointer = nullptr;
  std::uint32_t has_exceptions = 0;  // not 0 if `exceptions` is in use, while it is suspended
  std::uint32_t must_save = 0;       // not 0 if the fiber has a canary

  task_state task;
  const task_counter* outermost = nullptr;  // of the task that the scheduling loop started here

  std::uintptr_t exceptions[2] = {};  // per-thread state of the C++ runtime, saved for each fiber
  std::uint64_t* canary = nullptr;    // lowest word of a stack without a guard page, else null
  fiber* next = nullptr;              // link in a ready queue, a cache or a list of waiters
  std::uint32_t uses = 0;             // number of times that the stack was released
  std::uint32_t allowance = 0;        // bytes that the task may send without waiting (sync)
  const void* arrived = nullptr;      // the task that runs, if it came in a frame (sync)

  // What the task waits for while the fiber is suspended; null also while it waits for a phase in a
  // batch.
  base::atomic<const wait_record*> waits_for{nullptr};

  // If this is a drain fiber (drain.cpp): the suspended spawner whose tasks it runs, else null; and
  // the slot of the spawner's continuation.
  fiber* spawner = nullptr;
  slot* floor = nullptr;

  // For the watchdog: the extensions that tasks have which wait below the running one on this
  // stack.
  const hidden_task* hidden = nullptr;
  bool runs_main = false;  // the task without a spawn site is main

  // For observers (task_observer.hpp): the task that runs on the fiber, on top of others; and what
  // has made the fiber ready, if it is.
  observed_task* observed = nullptr;
  std::uint64_t cause = 0;

  // For the sanitizers: the bounds of the stack, and their own handle of the fiber.
  const void* stack_bottom = nullptr;
  std::size_t stack_bytes = 0;
  void* sanitizer_state = nullptr;
};

// The range of addresses that all stacks of the process come from.
struct stack_range {
  std::uintptr_t begin = 0;
  std::uintptr_t bytes = 0;
  std::uintptr_t mask = 0;  // stack size - 1
};
APGAS_API extern stack_range all_stacks;

// The distance in bytes of the record of a fiber from the upper end of its stack.
inline constexpr std::size_t fiber_record_bytes = 256;
static_assert(sizeof(fiber) <= fiber_record_bytes);
static_assert(offsetof(fiber, task) + offsetof(task_state, finish) + 8 <= 64);

// Returns the stack pointer. Context: any thread.
[[gnu::always_inline]] inline std::uintptr_t stack_pointer() noexcept {
#if defined(__x86_64__)
  std::uintptr_t sp;
  asm("mov %%rsp, %0" : "=r"(sp));
  return sp;
#elif defined(__aarch64__)
  std::uintptr_t sp;
  asm("mov %0, sp" : "=r"(sp));
  return sp;
#else
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
#endif
}

// Returns whether the calling code runs on a fiber. Context: any thread.
[[gnu::always_inline]] inline bool on_fiber() noexcept {
  return stack_pointer() - all_stacks.begin < all_stacks.bytes;
}

// Returns the fiber that the calling code runs on. Requires: on_fiber().
[[gnu::always_inline]] inline fiber* fiber_of_this_stack() noexcept {
  return reinterpret_cast<fiber*>((stack_pointer() | all_stacks.mask) + 1 - fiber_record_bytes);
}

// The same, but always computed anew. For code after a call, where the compiler would otherwise
// keep the earlier value in a callee-saved register.
// Requires: on_fiber().
[[gnu::always_inline]] inline fiber* fiber_after_call() noexcept {
#if defined(__x86_64__)
  std::uintptr_t sp;
  asm volatile("mov %%rsp, %0" : "=r"(sp));
  return reinterpret_cast<fiber*>((sp | all_stacks.mask) + 1 - fiber_record_bytes);
#else
  return fiber_of_this_stack();
#endif
}

// Returns the fiber that the calling code runs on, or null if it runs on the stack of a thread.
// Context: any thread. Cost: five instructions.
[[gnu::always_inline]] inline fiber* current_fiber() noexcept {
  return on_fiber() ? fiber_of_this_stack() : nullptr;
}

// The machine-dependent part of a switch (context.cpp): saves the current context in `from` and
// enters `to`. It returns when a thread enters `from` again, which may be another thread. The
// floating-point control words are not saved; a task must leave them as it found them.
APGAS_API void switch_context(fiber& from, fiber& to) noexcept;

}  // namespace apgas::inline v0::scheduler
