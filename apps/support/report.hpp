// SPDX-License-Identifier: Apache-2.0
#pragma once

// The last line that an app prints: one JSON object for scripts. Each app calls this once, at the
// end of its main task, and returns the result.

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace apps {

using figure = std::variant<bool, int, std::int64_t, std::uint64_t, double, std::string>;
using figures = std::vector<std::pair<std::string, figure>>;

// Prints {"app", "places", "workers", "seconds", "verified", own figures...} as one line. Returns
// the exit code: 0 if the result was verified; 1 if it was not, or if the output could not be
// written, which a line on stderr says.
// Context: a task.
[[nodiscard]] int report(const std::string& app, double seconds, bool verified, const figures& own);

// The same for a program that does not use the library. Context: any thread.
struct processes {
  int places;
  int workers;  // of each place
};
[[nodiscard]] int report(const std::string& app, const processes& by, double seconds, bool verified,
                         const figures& own);

}  // namespace apps
