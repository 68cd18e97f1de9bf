// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace apgas::inline v0 {

// The registration mode of a task on a phaser: what the task may do there. The modes are the
// capability lattice of Habanero phasers (Shirako, Peixotto, Sarkar and Scherer: "Phasers: a
// unified deadlock-free construct for collective and point-to-point synchronization", ICS 2008). A
// task may register a child in its own mode or in a lesser one. signal_wait_next is the greatest
// mode, signal_wait is less, and signal and wait are each less than signal_wait.
//
// A clock has no modes: its tasks are registered as with signal_wait.
enum class phaser_mode : std::uint8_t {
  signal_wait_next,  // signals, waits, and may run the closure of next_single
  signal_wait,       // signals and waits: a member of a barrier
  signal,            // signals only, as a producer: it never waits and may run ahead
  wait,              // waits only, as a consumer: no task waits for it
};

}  // namespace apgas::inline v0
