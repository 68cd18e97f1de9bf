// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace apgas::inline v0::scheduler {

// Returns what the reader of the report of a deadlock should look at first, as the end of a
// sentence that begins with "What to try: ". It depends on how the tasks of the cycle need each
// other, and without a cycle on what the groups of tasks wait for.
std::string_view remedy_for(std::string_view report) noexcept;

}  // namespace apgas::inline v0::scheduler
