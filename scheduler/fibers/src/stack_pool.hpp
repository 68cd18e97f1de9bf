// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <apgas/scheduler/fiber.hpp>

// The stacks of all fibers of the process: one reservation of address space, cut into stacks of
// equal size, each with a guard at its low end and the fiber's record at its high end.
//
// It is one per process, not per scheduler, because current_fiber() finds its fiber by one range of
// addresses. Workers cache fibers; this is where they come from and go to.
namespace apgas::inline v0::scheduler {

enum class stack_guard {
  kernel_marker,   // MADV_GUARD_INSTALL (Linux 6.13): any number, no mapping of its own
  protected_page,  // mprotect: two mappings each, so for a part of the stacks only
  canary,          // a word at the end, checked at every switch
};

// Reserves the address space, once; later calls with another size need all stacks back.
// Throws: launch_error.
void reserve_stacks(std::size_t stack_bytes);

// A fiber whose context is not made. Ends the job when the reservation is used up: that many
// suspended tasks are a leak, and no caller could go on. Context: any thread.
fiber* acquire_stack() noexcept;
void release_stack(fiber* f) noexcept;

// Ends the job when the end of the stack of `f` was overwritten. Called where `f` is left.
void check_canary(const fiber& f) noexcept;

// Whether `address` lies in the reservation, and if so the fiber of that stack.
fiber* fiber_of_address(const void* address) noexcept;

stack_guard strongest_guard() noexcept;
std::size_t protected_stacks_max() noexcept;

}  // namespace apgas::inline v0::scheduler
