// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <apgas/scheduler/fiber.hpp>

// Where a suspended fiber is, for reports.
namespace apgas::inline v0::scheduler {

// Returns an address in each function on the stack of the fiber, from the innermost on; at most
// `most`. Empty with the context switch of Boost. Requires: the fiber is suspended, and stays so.
// Throws: std::bad_alloc. Context: any thread. Cost: about 1 us for each frame.
std::vector<std::uintptr_t> frames_of_suspended(const fiber& f, std::size_t most);

}  // namespace apgas::inline v0::scheduler
