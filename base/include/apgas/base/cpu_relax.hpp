// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a thread waits in a loop for another: it tells the core first, and the kernel when that
// has not helped, because the other thread may need this very core.

#ifdef APGAS_MODEL_CHECK
#include <relacy/relacy.hpp>
#else
#include <sched.h>
#endif

namespace apgas::inline v0::base {

// One turn of a waiting loop, for the core alone.
inline void cpu_relax() noexcept {
#if defined(APGAS_MODEL_CHECK)
  rl::yield(1, $);
#elif defined(__x86_64__)
  asm volatile("pause");
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// once() per turn of a waiting loop: 100 short pauses (about 4 us), then sched_yield each time.
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
