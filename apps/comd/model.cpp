// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <numbers>

#include "comd/model.hpp"
#include "support/random_word.hpp"

namespace comd {
namespace {

// A number of the standard normal distribution, by the method of Box and Muller.
double normal_number(std::uint64_t seed, std::uint64_t k) {
  const double u = 1 - apps::random_fraction(apps::random_word(seed, 2 * k));
  const double v = apps::random_fraction(apps::random_word(seed, 2 * k + 1));
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

}  // namespace

vec3 cube::lattice_position(std::uint32_t id) const {
  // In CoMD, too, no atom of the lattice is on the boundary of the cube.
  constexpr std::array<vec3, 4> basis{
      {{0.25, 0.25, 0.25}, {0.25, 0.75, 0.75}, {0.75, 0.25, 0.75}, {0.75, 0.75, 0.25}}};
  const std::uint32_t unit = id / 4;
  const std::uint32_t x = unit / (lattice_ * lattice_);
  const std::uint32_t y = unit / lattice_ % lattice_;
  const std::uint32_t z = unit % lattice_;
  vec3 at = basis[id % 4];
  at += {static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)};
  return lattice_constant * at;
}

std::vector<atom> initial_atoms(const cube& c, std::uint64_t seed) {
  std::vector<atom> all(c.atoms());
  vec3 total;
  for (std::uint32_t id = 0; id < c.atoms(); ++id) {
    const std::uint64_t k = 3 * static_cast<std::uint64_t>(id);
    atom& a = all[id];
    a.id = id;
    a.position = c.lattice_position(id);
    a.cell_z = c.cell_of(a.position.z);
    a.momentum = {normal_number(seed, k), normal_number(seed, k + 1), normal_number(seed, k + 2)};
    total += a.momentum;
  }
  const auto n = static_cast<double>(c.atoms());
  double kinetic = 0;
  for (atom& a : all) {
    a.momentum = a.momentum - 1 / n * total;
    kinetic += kinetic_energy(a.momentum);
  }
  const double factor = std::sqrt(1.5 * n * boltzmann * temperature / kinetic);
  for (atom& a : all) a.momentum = factor * a.momentum;
  return all;
}

}  // namespace comd
