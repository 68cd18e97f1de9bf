// SPDX-License-Identifier: Apache-2.0
#pragma once

// A lock for critical sections of a few instructions. It must not be held across a suspension point
// or while user code runs. It is a test-and-test-and-set lock: waiting threads read their cached
// copy of the lock until its holder releases it. It is not fair.
//
//              written by          read by
//   held_      holder, waiters     any thread
//
// Invariants
//   I1  held_ is true exactly while a thread holds the lock: from the return of its lock (or of its
//       successful try_lock) to its unlock.
// Pairs
//   P1  The thread whose exchange takes the lock sees everything that earlier holders wrote before
//       they called unlock.

#include <apgas/base/atomic.hpp>
#include <apgas/base/cpu_relax.hpp>

namespace apgas::inline v0::base {

class spin_lock {
 public:
  // Takes the lock; busy-waits until it is free. Context: any thread.
  void lock() noexcept {
    while (!try_lock()) {
      spin_wait wait;
      while (held_.load(relaxed)) wait.once();
    }
  }

  // Takes the lock if it is free, and returns whether it did. Context: any thread.
  [[nodiscard]] bool try_lock() noexcept {
    return !held_.load(relaxed) && !held_.exchange(true, acquire);  // P1
  }

  // Releases the lock. Requires: the calling thread holds it.
  void unlock() noexcept { held_.store(false, release); }  // P1

 private:
  atomic<bool> held_{false};
};

}  // namespace apgas::inline v0::base
