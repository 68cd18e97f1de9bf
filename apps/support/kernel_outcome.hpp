// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the kernels in lock-step share: how to run one, and what it found.

#include <cmath>
#include <string>

#include "support/lock_step.hpp"
#include "support/peer_thread.hpp"
#include "support/report.hpp"

namespace apps {

struct task_plan {
  const lock_step& how;
  peer_thread& peer;
};

struct kernel_outcome {
  double seconds = 0;
  int iterations = 0;
  double value = 0;
  double expected = 0;  // or the greatest permitted value
  double error = 0;     // relative; how far the value exceeds the permitted one if there is one
  bool verified = false;
};

// The outcome of a kernel whose value must equal the expected one up to a relative error.
inline kernel_outcome compare(double seconds, int iterations, double value, double expected,
                              double tolerance) {
  const double error = std::abs(value - expected) / std::abs(expected);
  return {seconds, iterations, value, expected, error, error <= tolerance};
}

// A result that is published for a number of iterations, and the greatest relative error of a right
// one.
struct published_result {
  int iterations;
  double value;
  double tolerance;
};

// Reports the outcome. `size_name` is what the program calls the size of a problem.
// Context: task.
inline int report(const std::string& app, const kernel_outcome& found, const lock_step& how,
                  const std::string& kernel, const std::string& size_name,
                  const std::string& size) {
  return report(app, found.seconds, found.verified,
                {{"kernel", kernel},
                 {size_name, size},
                 {"variant", how.variant},
                 {"tasks", how.members()},
                 {"iterations", found.iterations},
                 {"value", found.value},
                 {"expected", found.expected},
                 {"error", found.error}});
}

}  // namespace apps
