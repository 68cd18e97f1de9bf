// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace apgas::inline v0 {

// What a task may do on a phaser. A child is given at most what its parent has: signal_wait_next is
// more than signal_wait, which is more than signal and than wait.
enum class phaser_mode : std::uint8_t {
  signal_wait_next,  // signal, wait, next_single
  signal_wait,       // signal, wait: a barrier
  signal,            // a producer: never waits, may run ahead
  wait,              // a consumer: nobody waits for it
};

}  // namespace apgas::inline v0
