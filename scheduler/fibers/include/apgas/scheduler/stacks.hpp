// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

// What others may ask about the stacks of this process.
namespace apgas::inline v0::scheduler {

// Stacks in existence in the process, suspended tasks included (tests; leak checks).
std::size_t stacks_in_use() noexcept;
// How stacks are guarded on this system, for apgas-info.
std::string stack_guard_description(std::size_t stack_bytes);

}  // namespace apgas::inline v0::scheduler
