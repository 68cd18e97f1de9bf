// SPDX-License-Identifier: Apache-2.0
#pragma once

// The C++ peers, one function for each work and kind. Context: the program's main thread.

#include "harness.hpp"
#include "lock_step.hpp"

namespace bench {

sample std_barrier(const plan& p);
sample std_reduction(const plan& p);
sample std_growing(const plan& p);
sample pthread_phases(const plan& p);

#if defined(BENCH_PEER_OPENMP)
sample openmp_barrier(const plan& p);
sample openmp_reduction(const plan& p);
sample openmp_growing(const plan& p);
#endif

#if defined(BENCH_PEER_FIBER)
enum class fiber_schedule { round_robin, shared_work, work_stealing };

// To be called once in a process: Boost.Fiber counts all threads that have ever used work_stealing.
sample fiber_barrier(const plan& p, fiber_schedule how, int threads);
sample fiber_reduction(const plan& p, fiber_schedule how, int threads);
sample fiber_growing(const plan& p, fiber_schedule how, int threads);
sample fiber_spawning(const plan& p, fiber_schedule how, int threads);
#endif

// Times f(), which returns what it counted. Calls it once without timing, then p.phases times or as
// often as the budget allows. Returns the seconds for p.phases calls.
template <class F>
sample repeated(const plan& p, F f, long expected) {
  bool correct = f() == expected;
  long times = 0;
  const double begin = now();
  double seconds = 0;
  do {
    correct = f() == expected && correct;
    seconds = now() - begin;
  } while (++times < p.phases && seconds < p.budget);
  return {seconds * static_cast<double>(p.phases) / static_cast<double>(times), correct};
}

}  // namespace bench
