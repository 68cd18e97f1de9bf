// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <apgas/base/atomic.hpp>
#include <apgas/base/cpu_relax.hpp>
#include <apgas/base/spin_lock.hpp>

// Lets threads share a process-wide barrier. The kernel executes such barriers one after the other,
// and each interrupts all cores of the process. If hundreds of workers go to sleep together, each
// of them needs a barrier that begins after it has announced its sleep; one is enough for all that
// wait while an earlier one is in progress.
//
//            written by     read by
//   begun_   lock holder    any thread
//   done_    lock holder    any thread
//
// Invariants
//   I1  begun_ is the number of barriers that have begun, done_ that of those which have ended.
//       While the lock is free, the two are equal.
//
// Pairs
//   P1  A thread reads begun_ as n by a read-modify-write; barrier n + 1 begins by another one. So
//       everything that the thread wrote before comes before barrier n + 1.
//   P2  A thread that reads done_ >= n + 1 comes after the end of barrier n + 1.
namespace apgas::inline v0::base {

class shared_barrier {
 public:
  // Returns after a call of execute() that began after this call, by this thread or another.
  // Context: any thread.
  template <class Execute>
  void wait(Execute execute) noexcept {
    const std::uint64_t needed = begun_.fetch_add(0, acq_rel) + 1;  // P1
    spin_wait wait;
    while (done_.load(acquire) < needed) {  // P2
      if (lock_.try_lock()) {
        if (done_.load(relaxed) < needed) {
          const std::uint64_t n = begun_.fetch_add(1, acq_rel) + 1;  // P1
          execute();
          done_.store(n, release);  // P2
        }
        lock_.unlock();
      } else {
        wait.once();
      }
    }
  }

 private:
  spin_lock lock_;
  atomic<std::uint64_t> begun_{0};
  atomic<std::uint64_t> done_{0};
};

}  // namespace apgas::inline v0::base
