// SPDX-License-Identifier: Apache-2.0
#pragma once

// The benchmarks of spawn_bench.

#include "harness.hpp"

namespace bench {

struct sizes {
  int fib = 32;
  int coroutine_fib = 25;
  int integrate_to = 400;
  int flat_tasks = 1'000'000;
  int rounds_of_suspensions = 2'000;
  int coarse_milliseconds = 5;
  int sections = 1'000'000;
  int loop_iterations = 10'000'000;
  int worked_iterations = 200'000;
  int uts_depth = 10;  // 10 gives the tree T1
};

benchmark fib(const sizes& s);
benchmark integrate(const sizes& s);
benchmark flat(const sizes& s);
benchmark coarse(const sizes& s);
benchmark coroutines(const sizes& s);
benchmark suspension(const sizes& s);
benchmark sections_alone(const sizes& s);
benchmark sections_contended(const sizes& s);
benchmark sections_beside_waiters(const sizes& s);
benchmark hand_over(const sizes& s);
benchmark empty_loop(const sizes& s);
benchmark worked_loop(const sizes& s);
benchmark uts_tree(const sizes& s);
benchmark uts_tree_portable(const sizes& s);

}  // namespace bench
