// SPDX-License-Identifier: Apache-2.0
#pragma once

// The measured constructs. Each of them runs a plan and checks what it can observe of itself.

#include <string>
#include <vector>

#include "epcc/rounds.hpp"

namespace epcc {

struct implementation {
  std::string construct;  // barrier, reduction, parallel, single, growing or changing
  std::string by;         // clock, phaser, tree, finish or openmp
  sample (*run)(const plan&);
};

// Context of run: task; may suspend.
std::vector<implementation> by_tasks();
// None in a build without OpenMP. Context of run: a thread that is not a worker.
std::vector<implementation> by_openmp();

// A repetition of `growing` begins with two members and has one more in each of its rounds. The
// other constructs have one round in each repetition.
inline int rounds_of_a_repetition(const std::string& construct, int members) {
  return construct == "growing" ? members - 1 : 1;
}

// How many delays a core does in a round if the members of a round share the cores evenly. This is
// the time of the round if the construct costs nothing.
double delays_of_a_core(const std::string& construct, int members, int cores);

}  // namespace epcc
