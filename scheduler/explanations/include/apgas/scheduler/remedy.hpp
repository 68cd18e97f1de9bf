// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include <apgas/scheduler/place_waits.hpp>

// What the reader of the report of a deadlock should look at first, as the end of a sentence that
// begins with "What to try: ". It depends on what the tasks wait for. The text of a report does not
// decide it, because that contains names which the program has chosen.
namespace apgas::inline v0::scheduler {

// Requires: kind != cycle_kind::none.
std::string_view remedy_for(cycle_kind kind) noexcept;
// The same of a report without a cycle.
std::string_view remedy_for(const std::vector<place_waits>& answers) noexcept;

}  // namespace apgas::inline v0::scheduler
