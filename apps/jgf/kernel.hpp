// SPDX-License-Identifier: Apache-2.0
#pragma once

// The three kernels. Each runs in lock-step by the chosen variant and checks its result.

#include <string>

#include "support/lock_step.hpp"
#include "support/peer_thread.hpp"

namespace jgf {

struct task_plan {
  const apps::lock_step& how;
  apps::peer_thread& peer;
};

struct outcome {
  double seconds = 0;
  int iterations = 0;
  double value = 0;
  double expected = 0;  // the greatest permitted value for LUFact
  double error = 0;     // relative; how far the value exceeds the permitted one for LUFact
  bool verified = false;
};

// Compares a value with the expected one.
outcome compare(double seconds, int iterations, double value, double expected, double tolerance);

// `size` is "A", "B" or "C". With 0 iterations the program runs as many as are published, and its
// result is compared with the published value; otherwise with the result of the serial program.
// Context: task; may suspend.
outcome run_sor(const std::string& size, int iterations, const task_plan& plan);
outcome run_moldyn(const std::string& size, int iterations, const task_plan& plan);
outcome run_lufact(const std::string& size, const task_plan& plan);

// MolDyn keeps a copy of all forces for each member.
inline constexpr int most_members_of_moldyn = 512;

}  // namespace jgf
