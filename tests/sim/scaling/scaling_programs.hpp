// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "scaling_world.hpp"

// The programs of the simulation, by name:
//   fib        fork_join: fib(n), 8 cycles a call
//   geometric  finish and async: a geometric tree as T1 of UTS, 90 cycles a tree node
//   binomial   the same with a binomial tree as T3
//   loop       forall over iterations of 10 us
//   producer   finish and async: one task spawns tasks of 10 us
//   rounds     finish and async: again and again a task of 0.1 us for each worker
//   clock      phases of a clock with tasks of 0.1 us
namespace apgas::test::scaling {

// `size` is n of fib, the depth of the geometric tree (T1 has 10, T1L 13), the number of children
// of the root of the binomial one (T3 has 2,000), the number of iterations, tasks or rounds, and
// the number of tasks of the clock. Throws: std::invalid_argument if there is no such program.
program program_called(std::string_view name, int workers, std::uint64_t size);

}  // namespace apgas::test::scaling
