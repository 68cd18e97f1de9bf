// SPDX-License-Identifier: Apache-2.0
#pragma once

// The simulation of a slab, with the velocity Verlet method, as a template over the way in which
// rows are worked on in parallel and slabs exchange messages:
//
//   how.each(n, f)      calls f(i) for every i < n, and waits for all of them
//   how.exchange(out)   sends out[below] and out[above] to the slabs there, and returns what they
//                       have sent to this one
//
// Does not use the library.

#include <cstddef>
#include <utility>
#include <vector>

#include "comd/slab.hpp"

namespace comd {

// The planes of link cells of one of several slabs.
struct planes {
  std::uint32_t first;
  std::uint32_t last;
};
constexpr planes share(std::uint32_t cells, std::size_t slab, std::size_t slabs) {
  return {static_cast<std::uint32_t>(cells * slab / slabs),
          static_cast<std::uint32_t>(cells * (slab + 1) / slabs)};
}

// The energies at the start and after each step: those of a slab's planes, one step after another.
using history = std::vector<energies>;

// Computes the forces at the positions of the atoms, and accelerates these for the given time.
template <class How>
void act(slab& s, How& how, double time, history& all) {
  how.each(s.rows(), [&](std::size_t row) { s.take_in(row); });
  s.take_halo(how.exchange(s.boundary()));
  how.each(s.rows(), [&](std::size_t row) { s.accelerate(row, time); });
  const std::vector<energies> now = s.plane_energies();
  all.insert(all.end(), now.begin(), now.end());
}

// The forces and energies at the start.
template <class How>
void start(slab& s, How& how, history& all) {
  act(s, how, 0, all);
}

template <class How>
void step(slab& s, How& how, history& all) {
  how.each(s.rows(), [&](std::size_t row) { s.move(row); });
  s.take_arrivals(how.exchange(s.leavers()));
  act(s, how, 0.5 * time_step, all);
}

// A single slab: the slab below and the slab above are the slab itself.
template <class T>
both_sides<T> exchange_with_itself(both_sides<T> out) {
  std::swap(out[below], out[above]);
  return out;
}

}  // namespace comd
