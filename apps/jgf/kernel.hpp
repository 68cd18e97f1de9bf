// SPDX-License-Identifier: Apache-2.0
#pragma once

// The three kernels. Each runs in lock-step by the chosen variant and checks its result.

#include <string>

#include "support/kernel_outcome.hpp"

namespace jgf {

// `size` is "A", "B" or "C". With 0 iterations the program runs as many as are published, and its
// result is compared with the published value; otherwise with the result of the serial program.
// Context: task; may suspend.
apps::kernel_outcome run_sor(const std::string& size, int iterations, const apps::task_plan& plan);
apps::kernel_outcome run_moldyn(const std::string& size, int iterations,
                                const apps::task_plan& plan);
apps::kernel_outcome run_lufact(const std::string& size, const apps::task_plan& plan);

// MolDyn keeps a copy of all forces for each member.
inline constexpr int most_members_of_moldyn = 512;

}  // namespace jgf
