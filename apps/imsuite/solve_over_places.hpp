// SPDX-License-Identifier: Apache-2.0
#pragma once

// Solves one input by one kernel at all places of the program.

#include "imsuite/kernel.hpp"
#include "imsuite/office.hpp"
#include "imsuite/steps_over_places.hpp"
#include "support/stopwatch.hpp"

namespace imsuite {

// Runs the kernel at this place, together with the other places.
template <template <class> class Kernel, class Sync>
void solve_here(offices all) {
  Sync sync(all);
  Kernel<Sync> kernel(all->in, sync);
  sync.serve(kernel);
  const apps::stopwatch clock;
  kernel.run();
  const double seconds = clock.seconds();
  all->result = {kernel.found(), seconds, sync.rounds(), sync.phases(), sync.messages()};
}

// Runs the kernel at every place, and combines the results.
outcome solve_at_all(const input& in, void (*start)(offices));

template <template <class> class Kernel, class Sync>
void start_at_all(offices all) {
  apgas::clocked_finish([all] {
    for (const apgas::place p : apgas::places()) {
      apgas::clocked_async_at(p, [](offices there) { solve_here<Kernel, Sync>(there); }, all);
    }
  });
}

template <template <class> class Kernel>
outcome solve_over_places(const input& in, variant v) {
  return solve_at_all(in, v == variant::clocks ? start_at_all<Kernel, by_clocks_over_places>
                                               : start_at_all<Kernel, by_finish_over_places>);
}

}  // namespace imsuite
