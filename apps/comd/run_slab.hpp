// SPDX-License-Identifier: Apache-2.0
#pragma once

// The whole simulation of one of several slabs. Does not use the library.

#include <cstdint>
#include <vector>

#include "comd/simulate.hpp"
#include "support/memory.hpp"
#include "support/stopwatch.hpp"

namespace comd {

struct problem {
  int lattice = 20;
  int steps = 100;
  std::uint64_t seed = 1;

  // The memory that the places of the host of place 0 need together, in bytes: each of them makes
  // all atoms at the start, and place 0 gathers and sorts them at the end.
  [[nodiscard]] double bytes(const apps::placement& all) const {
    return sizeof(atom) * static_cast<double>(cube(lattice).atoms()) * (all.on_host + 2);
  }
};

struct slab_outcome {
  double seconds = 0;  // of the steps
  history energies_of_step;
  std::vector<atom> atoms;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(seconds, energies_of_step, atoms);
  }
};

template <class How>
slab_outcome run_slab(const problem& p, std::size_t index, std::size_t slabs, How& how) {
  const cube c(p.lattice);
  const auto [first, last] = share(c.cells(), index, slabs);
  slab s(c, first, last, initial_atoms(c, p.seed));
  slab_outcome out;
  start(s, how, out.energies_of_step);
  const apps::stopwatch watch;
  for (int i = 0; i < p.steps; ++i) step(s, how, out.energies_of_step);
  out.seconds = watch.seconds();
  out.atoms = s.atoms();
  return out;
}

}  // namespace comd
