// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

// Information about the stacks of this process, for other modules and for tests.
namespace apgas::inline v0::scheduler {

// Returns the number of stacks that are in use, including those of suspended tasks and those that
// workers have cached. Tests use it to find leaks.
// Context: any thread.
std::size_t stacks_in_use() noexcept;
// Describes in a sentence how stacks of this size are guarded on this system, for apgas-info.
// Context: any thread.
std::string stack_guard_description(std::size_t stack_bytes);

}  // namespace apgas::inline v0::scheduler
