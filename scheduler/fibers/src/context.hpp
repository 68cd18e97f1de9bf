// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/base/sanitizer.hpp>
#include <apgas/scheduler/fiber.hpp>

#if APGAS_SANITIZED || defined(APGAS_BOOST_CONTEXT) || \
    !(defined(__x86_64__) || defined(__aarch64__))
#define APGAS_SWITCH_BY_BOOST 1
#else
#define APGAS_SWITCH_BY_BOOST 0
#endif

// The machine-dependent part of a fiber: making a context and switching stacks, with the
// annotations that the sanitizers need. switch_context() itself is declared in fiber.hpp.
namespace apgas::inline v0::scheduler {

// Prepares `f` to call entry(f) when it is entered for the first time.
// Requires: its stack bounds are set.
void make_context(fiber& f, void (*entry)(fiber*)) noexcept;

// Undoes make_context(): releases what the sanitizers hold for the fiber.
// Context: any thread, but not on `f`.
void drop_context(fiber& f) noexcept;

// Makes `f` stand for the calling thread's own stack, so that a fiber can switch back to it.
void adopt_thread(fiber& f) noexcept;

// entry() must call this first.
void context_entered(fiber& self) noexcept;

// Returns the address of the two words of C++ exception state of this thread: the caught exceptions
// and the number of uncaught ones.
std::uintptr_t* exception_state() noexcept;

}  // namespace apgas::inline v0::scheduler
