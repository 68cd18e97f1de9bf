// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <source_location>

#include <apgas/scheduler/slot.hpp>

// The stack that tasks run on, and how the running code finds it: a fiber lies at the top of its
// stack, stacks are aligned to their size and come from one range of addresses, so the current one
// is found from the stack pointer alone. No thread_local is read, because a task may go on on
// another thread after any suspension.
namespace apgas::inline v0::scheduler {

struct worker;
struct fiber;

// What the layer above attaches to some tasks.
class task_extension {
 public:
  task_extension() = default;
  task_extension(const task_extension&) = delete;
  task_extension& operator=(const task_extension&) = delete;

  // The body of the task has ended; the state it left is that of `self`. Context: task.
  virtual void task_ended(fiber& self) noexcept = 0;

 protected:
  ~task_extension() = default;
};

// Who the running task is, for its children, its errors and reports.
struct task_state {
  task_extension* registrations = nullptr;  // clocks and phasers (sync)

  // What makes a task other than most; tested as one word.
  struct alignas(8) peculiarities {
    std::uint32_t atomic_depth = 0;  // nested atomic sections
    std::uint32_t special = 0;       // has a name or registrations
  };
  peculiarities is{};

  task_counter* finish = nullptr;  // innermost enclosing finish
  std::source_location site{};     // where it was spawned
  const char* name = nullptr;      // given by apgas::name, or null

  bool plain() const noexcept { return std::bit_cast<std::uint64_t>(is) == 0; }
};

// What is used whenever a fiber is left or entered lies in the first cache line: the records of all
// fibers have the same place in their pages, so they compete for the same few sets of the caches.
struct alignas(64) fiber {
  // Written by the worker that runs the fiber, read by the frames on it.
  worker* on = nullptr;
  std::uint64_t generation = 0;  // grows when the frames lose sight of their slots
  slot* base = nullptr;          // head of the deque when the fiber was last resumed

  // Written while it is left or entered.
  void* stack_pointer = nullptr;
  std::uint32_t has_exceptions = 0;  // in `exceptions`, while it is left
  std::uint32_t has_canary = 0;

  task_state task;
  const task_counter* outermost = nullptr;  // the counter of the task that the loop runs here

  std::uintptr_t exceptions[2] = {};  // the C++ runtime's per-thread state, kept per fiber
  std::uint64_t* canary = nullptr;    // lowest word of a stack without a guard page
  fiber* next = nullptr;              // in a ready queue, a cache or a waiting list
  std::uint32_t uses = 0;             // times that the stack was given back
  std::uint32_t allowance = 0;        // bytes that the task may send without waiting (sync)

  // For the watchdog. What the task waits for, while the fiber is left; null also where it waits
  // for a phase.
  const char* waits_for = nullptr;
  fiber* older = nullptr;  // of the same scheduler
  fiber* newer = nullptr;

  // A spawner that waits below its tasks, which this fiber runs (drain.cpp), or null.
  fiber* spawner = nullptr;
  slot* floor = nullptr;

  // For the sanitizers: bounds of the stack and their own idea of it.
  const void* stack_bottom = nullptr;
  std::size_t stack_bytes = 0;
  void* sanitizer_state = nullptr;
};

// The addresses that all stacks of the process come from.
struct stack_range {
  std::uintptr_t begin = 0;
  std::uintptr_t bytes = 0;
  std::uintptr_t mask = 0;  // stack size - 1
};
extern stack_range all_stacks;

// How far a fiber lies below the end of its stack.
inline constexpr std::size_t fiber_record_bytes = 256;
static_assert(sizeof(fiber) <= fiber_record_bytes);
static_assert(offsetof(fiber, task) + offsetof(task_state, finish) + 8 <= 64);

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

// Whether this thread runs on a fiber. Context: any thread.
[[gnu::always_inline]] inline bool on_fiber() noexcept {
  return stack_pointer() - all_stacks.begin < all_stacks.bytes;
}

// Requires: on_fiber().
[[gnu::always_inline]] inline fiber* fiber_of_this_stack() noexcept {
  return reinterpret_cast<fiber*>((stack_pointer() | all_stacks.mask) + 1 - fiber_record_bytes);
}

// The same, computed anew: after a call, where the compiler would otherwise keep the value of
// before in a register that every caller must save. Requires: on_fiber().
[[gnu::always_inline]] inline fiber* fiber_after_call() noexcept {
#if defined(__x86_64__)
  std::uintptr_t sp;
  asm volatile("mov %%rsp, %0" : "=r"(sp));
  return reinterpret_cast<fiber*>((sp | all_stacks.mask) + 1 - fiber_record_bytes);
#else
  return fiber_of_this_stack();
#endif
}

// The fiber whose stack this is; null on a thread that is no worker's.
// Context: any thread. Cost: five instructions.
[[gnu::always_inline]] inline fiber* current_fiber() noexcept {
  return on_fiber() ? fiber_of_this_stack() : nullptr;
}

// The machine part of a switch (context.cpp): saves the current context in `from` and enters `to`;
// returns when somebody enters `from` again. Not saved: the floating-point control words, which a
// task must leave as it found them.
void switch_context(fiber& from, fiber& to) noexcept;

}  // namespace apgas::inline v0::scheduler
