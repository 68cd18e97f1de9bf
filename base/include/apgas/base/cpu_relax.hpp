// SPDX-License-Identifier: Apache-2.0
#pragma once

// Busy-waiting for another thread. A waiting loop first pauses the core; if that does not help
// soon, it yields to the kernel's scheduler, because the other thread may need this very core.

#ifdef APGAS_MODEL_CHECK
#include <relacy/relacy.hpp>
#else
#include <sched.h>
#endif

namespace apgas::inline v0::base {

// Tells the core that this is one iteration of a waiting loop. Context: any thread.
inline void cpu_relax() noexcept {
#if defined(APGAS_MODEL_CHECK)
  rl::yield(1, $);
#elif defined(__x86_64__)
  asm volatile("pause");
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Call once() in each iteration of a waiting loop. The first 100 calls pause the core (about 4 us
// in all), later calls are sched_yield. Use a new object for each wait. Context: owner.
class spin_wait {
 public:
  void once() noexcept {
#ifndef APGAS_MODEL_CHECK
    if (spins_ >= 100) {
      sched_yield();
      return;
    }
    ++spins_;
#endif
    cpu_relax();
  }

 private:
  [[maybe_unused]] int spins_ = 0;
};

}  // namespace apgas::inline v0::base
