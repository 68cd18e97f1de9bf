// SPDX-License-Identifier: Apache-2.0
#pragma once

// A lock for a few instructions, held across no suspension point and no user code. Test and
// test-and-set: waiters read their own cached copy until the holder releases.
//
//              written by          read by
//   held_      holder, waiters     any thread
//
// Invariants
//   I1  held_ is true exactly while one thread is between lock (or try_lock) and unlock.
// Pairs
//   P1  unlock publishes what its holder wrote to the thread whose exchange takes the lock next.

#include <apgas/base/atomic.hpp>
#include <apgas/base/cpu_relax.hpp>

namespace apgas::inline v0::base {

class spin_lock {
 public:
  // Context: any thread.
  void lock() noexcept {
    while (!try_lock()) {
      spin_wait wait;
      while (held_.load(relaxed)) wait.once();
    }
  }

  [[nodiscard]] bool try_lock() noexcept {
    return !held_.load(relaxed) && !held_.exchange(true, acquire);  // P1
  }

  // Context: owner.
  void unlock() noexcept { held_.store(false, release); }  // P1

 private:
  atomic<bool> held_{false};
};

}  // namespace apgas::inline v0::base
