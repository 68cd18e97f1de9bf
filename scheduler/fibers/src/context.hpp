// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/scheduler/fiber.hpp>

// The machine part of a fiber: making one and switching stacks, with what the sanitizers must know.
namespace apgas::inline v0::scheduler {

// Prepares `f`, whose stack bounds are set, to call entry(f) when it is entered first.
void make_context(fiber& f, void (*entry)(fiber*)) noexcept;

// Forgets what make_context noted for the sanitizers. Context: any thread, not on `f`.
void drop_context(fiber& f) noexcept;

// Makes the calling thread's own stack a fiber that can be switched back to.
void adopt_thread(fiber& f) noexcept;

// The first thing that entry() must call.
void context_entered(fiber& self) noexcept;

// The address of this thread's two words of C++ exception state (caught and uncaught).
std::uintptr_t* exception_state() noexcept;

}  // namespace apgas::inline v0::scheduler
