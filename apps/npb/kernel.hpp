// SPDX-License-Identifier: Apache-2.0
#pragma once

// The two kernels. Each runs in lock-step by the chosen variant and checks its result.

#include <string>

#include "support/kernel_outcome.hpp"

namespace npb {

// `size` is the class "S", "W" or "A". With 0 iterations the program runs as many as are published,
// and its result is compared with the published value; otherwise with the result of the serial
// program. One iteration, which is not timed, comes before. Context: task; may suspend.
apps::kernel_outcome run_cg(const std::string& size, int iterations, const apps::task_plan& plan);
apps::kernel_outcome run_mg(const std::string& size, int iterations, const apps::task_plan& plan);

}  // namespace npb
