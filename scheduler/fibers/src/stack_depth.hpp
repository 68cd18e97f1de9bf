// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <apgas/scheduler/fiber.hpp>

// How much of their stacks tasks have used. Nothing is recorded for it: a page that a task has
// touched stays in memory, and the kernel says which pages those are.
namespace apgas::inline v0::scheduler {

// Returns how many bytes of the stack of `f` were ever used, in whole pages, if these are more than
// `known`; else returns `known`. Pages whose memory was given back are not seen.
// Context: any thread. Cost: a system call for each 256 pages.
std::size_t used_stack(const fiber& f, std::size_t known) noexcept;

// With keep_stack_depths(), the pool of stacks looks at a stack before it gives its memory back.
// deepest_released_stack() is the most that it has seen, of all stacks of the process.
// Context: any thread.
void keep_stack_depths() noexcept;
void note_stack_depth(const fiber& f) noexcept;
std::size_t deepest_released_stack() noexcept;

}  // namespace apgas::inline v0::scheduler
