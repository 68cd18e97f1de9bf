// SPDX-License-Identifier: Apache-2.0
#pragma once

// Solves one input by one kernel with one of the three policies. A Kernel is a class template over
// the policy: it is constructed from (input, policy), and has run(), which is timed, and found().

#include "imsuite/baseline.hpp"
#include "imsuite/clocks.hpp"
#include "imsuite/finish.hpp"
#include "imsuite/kernel.hpp"
#include "support/stopwatch.hpp"

namespace imsuite {

template <template <class> class Kernel, class Sync>
outcome solve_in_step(const input& in) {
  Sync sync;
  Kernel<Sync> kernel(in, sync);
  const apps::stopwatch clock;
  kernel.run();
  const double seconds = clock.seconds();
  return {kernel.found(), seconds, sync.rounds(), sync.phases()};
}

template <template <class> class Kernel>
outcome solve(const input& in, variant v) {
  switch (v) {
    case variant::clocks:
      return solve_in_step<Kernel, by_clocks>(in);
    case variant::finish:
      return solve_in_step<Kernel, by_finish>(in);
    case variant::baseline:
      break;
  }
  return solve_in_step<Kernel, by_baseline>(in);
}

}  // namespace imsuite
