// SPDX-License-Identifier: Apache-2.0
#pragma once

// The numbered set of all programs of three tasks on one clock or phaser.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim_phase_script.hpp"
#include "sim_runs.hpp"

namespace phase_sim {

using program = std::vector<std::vector<action>>;

struct program_space {
  std::vector<op> ops;             // for each task, before, between and after its spawns
  std::vector<phaser_mode> modes;  // of the children

  std::uint64_t programs() const {
    std::uint64_t n = 2 * modes.size() * modes.size();
    for (int i = 0; i < 6; ++i) n *= ops.size() + 1;
    return n;
  }
};

// Makes the n-th program of a space; the digits of n choose the actions. Returns false if n is past
// the last program. Main spawns child 1, and main or child 1 spawns child 2.
inline bool make(const program_space& space, std::uint64_t n, program& tasks) {
  sim::digits digit(n);
  const bool by_main = digit.next(2) == 0;
  const phaser_mode first = space.modes[digit.next(space.modes.size())];
  const phaser_mode second = space.modes[digit.next(space.modes.size())];
  tasks.assign(3, {});
  const auto does = [&](std::size_t task) {
    const std::size_t d = digit.next(space.ops.size() + 1);
    if (d != 0) tasks[task].push_back({space.ops[d - 1]});
  };
  does(0);
  tasks[0].push_back({op::spawn, 1, first});
  if (by_main) tasks[0].push_back({op::spawn, 2, second});
  does(0);
  does(1);
  const bool may = first == phaser_mode::signal_wait || first == phaser_mode::signal_wait_next;
  if (!by_main) tasks[1].push_back({op::spawn, 2, may ? second : first});
  does(1);
  does(2);
  does(2);
  return digit.used_up();
}

inline std::string text(const program& tasks) {
  static constexpr std::array words{"-",    "next",  "resume", "wait",  "single",
                                    "drop", "spawn", "end",    "travel"};
  std::string all;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    all.append(" ").append(std::to_string(t)).append(":");
    for (const action& a : tasks[t]) {
      all.append(" ").append(words[static_cast<std::size_t>(a.what)]);
      if (a.what != op::spawn) continue;
      all.append(" ").append(std::to_string(a.name)).append(" in mode ");
      all.append(std::to_string(static_cast<int>(a.mode)));
    }
    all.append(";");
  }
  return all;
}

}  // namespace phase_sim
