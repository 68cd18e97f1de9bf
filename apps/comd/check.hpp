// SPDX-License-Identifier: Apache-2.0
#pragma once

// The checks of a simulation. Does not use the library.

#include <cstdint>
#include <string>
#include <vector>

#include "comd/simulate.hpp"

namespace comd {

// The state of all slabs at the end of a simulation.
struct outcome {
  std::vector<atom> atoms;   // in any order; the checks sort them
  history energies_of_step;  // of the whole cube, at the start and after each step
};

struct findings {
  std::string wrong;         // the first check that failed, or an empty text
  double energy_error = 0;   // of an atom at the start, from the published value, in eV
  double energy_change = 0;  // the greatest relative change of the total energy
  double final_change = 0;   // the same at the end
  double drift = 0;          // the same of the energy that the method conserves
  double momentum = 0;       // the length of the total, relative to the sum of the lengths
  double force_error = 0;    // the greatest, relative to the mean square of the forces compared
  std::uint64_t digest = 0;  // of all positions and momenta, bit by bit
};

// Checks that every atom exists exactly once; that the energy of an atom at the start is the
// published one; that the energy is conserved; that the total momentum is zero; that the kinetic
// energy at the end is that of the momenta; and that the forces on some atoms are those of all
// atoms of the cube, without link cells.
//
// The velocity Verlet method does not conserve the total energy E but, up to the fourth power of
// the time step h, E + h^2/12 vV''v - h^2/24 F^2/m (Hairer, Lubich, Wanner, "Geometric Numerical
// Integration", IX). While the perfect lattice of the start turns into a crystal with vibrations,
// the second and the third term change, and E changes by 2.2e-5 with them. Since U'' = vV''v -
// F^2/m for the potential energy U as a function of time, the conserved energy of step n is E +
// (U[n+1] - 2 U[n] + U[n-1]) / 12 + h^2/24 F^2/m. It is kept to 1e-5, and E to 5e-5. For the size
// that CoMD publishes, E at the end differs from E at the start by 1e-5, rounded to that digit.
findings check(const cube& c, outcome& found);

// Adds up the histories of slabs, in the order of the planes.
history add_up(const std::vector<history>& of_slabs, std::size_t steps);

}  // namespace comd
