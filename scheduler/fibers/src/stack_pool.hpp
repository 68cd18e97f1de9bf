// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <apgas/base/atomic.hpp>
#include <apgas/scheduler/fiber.hpp>

// The pool of stacks: one reservation of address space, divided into stacks of equal size. Each
// stack has a guard at its lower end and the record of its fiber at its upper end.
//
// There is one pool in a process, not one for each scheduler, because current_fiber() relies on a
// single range of addresses. Workers take fibers from the pool, cache them, and return them to it.
namespace apgas::inline v0::scheduler {

enum class stack_guard {
  kernel_marker,   // MADV_GUARD_INSTALL (Linux 6.13): needs no mapping, so every stack has one
  protected_page,  // mprotect: needs two mappings, so only some of the stacks have one
  canary,          // a word at the lower end that is checked whenever the fiber is left
};

// Reserves the address space for stacks of at least `stack_bytes`, rounded up to a power of two.
// Does nothing if stacks of that size are reserved already.
// Throws: launch_error if stacks of another size are in use, or there is no address space.
void reserve_stacks(std::size_t stack_bytes);

// How many free stacks a worker may keep. All workers of the process together keep at most a
// quarter of all stacks, so that none of them lacks stacks which others keep.
extern base::atomic<int> kept_stacks_max;

// Counts the workers of a scheduler while it exists, for kept_stacks_max.
class workers_with_stacks {
 public:
  explicit workers_with_stacks(int workers) noexcept;
  workers_with_stacks(const workers_with_stacks&) = delete;
  workers_with_stacks& operator=(const workers_with_stacks&) = delete;
  ~workers_with_stacks();

 private:
  const int workers_;
};

// Returns a fiber without a context (see make_context()). If all stacks are in use it ends the job:
// so many suspended tasks are a leak, and no caller could go on.
// Context: any thread.
fiber* acquire_stack() noexcept;
// Returns a fiber to the pool. Its memory may be given back to the kernel. Context: any thread.
void release_stack(fiber* f) noexcept;

// Ends the job if the canary of `f` was overwritten. Called whenever `f` is left.
void check_canary(const fiber& f) noexcept;

// Returns the fiber in whose stack `address` lies, or null if it lies in no stack of the pool.
// Context: any thread, signal handlers.
fiber* fiber_of_address(const void* address) noexcept;

// Returns how many stacks were ever taken, and the fiber of stack number n < stacks_made(). The
// fiber may be in the pool, in use by any scheduler of the process, or under construction; its
// record is zero before that. It can be read until stacks of another size are reserved. Context:
// any thread.
std::size_t stacks_made() noexcept;
fiber& fiber_of_stack(std::size_t n) noexcept;
std::size_t number_of_stack(const fiber& f) noexcept;

// Returns the best kind of guard that this kernel offers.
stack_guard strongest_guard() noexcept;
// Returns the number of stacks that may have protected pages, by the kernel's limit of mappings.
std::size_t protected_stacks_max() noexcept;

}  // namespace apgas::inline v0::scheduler
