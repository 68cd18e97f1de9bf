// SPDX-License-Identifier: Apache-2.0
#pragma once

// A spin lock that one thread, the owner, takes without an atomic read-modify-write: a lock biased
// towards it. Other threads may take it too, but pay a system call that interrupts the owner. It
// suits data that one thread uses all the time and others hardly ever: the network of a place with
// one worker. Like spin_lock.hpp, it must not be held across a suspension point or while user code
// runs, and it is not fair.
//
// One lock_owner serves many locks. Until a thread has claimed it, and from the moment that the
// thread gives it up, the locks are ordinary spin locks.
//
//               written by                             read by
//   thread_     the owner                              any thread
//   inside_     the owner                              the owner, the holder of held_
//   held_       threads that are not the owner         any thread
//
// Invariants
//   I1  inside_ is true while the owner holds the lock, and for a moment when it tries to.
//   I2  held_ is true exactly while another thread holds the lock or waits for the owner to leave.
//   I3  A thread that has set held_ has the lock once it has seen inside_ false, and the owner has
//       it once it has seen held_ false after it set inside_.
// Pairs
//   P1  Asymmetric fences. The owner sets inside_, executes the light fence and reads held_. Any
//       other thread sets held_, executes the heavy fence and reads inside_. At least one of them
//       sees the store of the other.
//   P2  Asymmetric fences. The owner writes thread_ and executes the heavy fence in claim(). Any
//       other thread sets held_, executes the light fence and reads thread_. Either that thread
//       finds the owner and goes on with P1, or the owner sees held_ when it wants to enter.
//   P3  The thread that takes the lock sees everything that earlier holders wrote before they
//       released it: the owner by held_, other threads by held_ and by inside_, or by thread_ once
//       the owner has given it up.
//
// Model: tests/model/biased_model.cpp. Source: Dice, Huang and Yang, "Asymmetric Dekker
// Synchronization", 2001; Kawachiya, Koseki and Onodera, "Lock Reservation", OOPSLA 2002.

#include <cstdint>

#include <apgas/base/atomic.hpp>
#include <apgas/base/counted_fence.hpp>
#include <apgas/base/cpu_relax.hpp>
#include <apgas/base/thread_pointer.hpp>

namespace apgas::inline v0::base {

class lock_owner {
 public:
  // The calling thread becomes the owner of all locks that refer to this object.
  // Requires: membarrier_available(), or there is no other thread. No thread is the owner; if one
  // was, it has given up and the caller knows. The caller holds none of the locks.
  void claim() noexcept {
    thread_.store(thread_pointer(), relaxed);
    fence_.heavy_fence();  // P2
  }
  // The locks have no owner any more. Requires: the caller is the owner and holds none of them.
  void give_up() noexcept { thread_.store(0, release); }  // P3

  bool is_this_thread() const noexcept { return thread_.load(relaxed) == thread_pointer(); }
  bool exists() const noexcept { return thread_.load(acquire) != 0; }  // P3

  // How many heavy fences its claims, and the locks taken by other threads, have cost so far.
  std::uint64_t fences() const noexcept { return fence_.count(); }

 private:
  friend class biased_lock;

  atomic<std::uintptr_t> thread_{0};
  counted_fence fence_;
};

class biased_lock {
 public:
  // `owner` must outlive the lock.
  explicit biased_lock(lock_owner& owner) noexcept : owner_(owner) {}

  // Takes the lock; busy-waits until it is free. Context: any thread that does not hold it.
  void lock() noexcept {
    if (owner_.is_this_thread()) {
      while (!enter()) wait_for(held_);
      return;
    }
    while (held_.exchange(true, acquire)) wait_for(held_);  // P3
    light_fence();                                          // P2
    if (!owner_.exists()) return;
    owner_.fence_.heavy_fence();  // P1
    wait_for(inside_);
  }

  // Releases the lock. Requires: the calling thread holds it.
  void unlock() noexcept {
    (owner_.is_this_thread() ? inside_ : held_).store(false, release);  // P3
  }

 private:
  // For the owner: takes the lock unless another thread has set held_.
  bool enter() noexcept {
    inside_.store(true, relaxed);
    light_fence();                                // P1
    const bool entered = !held_.load(acquire);    // P3
    if (!entered) inside_.store(false, release);  // P3
    return entered;
  }

  static void wait_for(const atomic<bool>& end) noexcept {
    spin_wait wait;
    while (end.load(acquire)) wait.once();  // P3
  }

  lock_owner& owner_;
  atomic<bool> inside_{false};
  atomic<bool> held_{false};
};

}  // namespace apgas::inline v0::base
