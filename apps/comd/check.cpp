// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>

#include "comd/check.hpp"
#include "support/greatest.hpp"
#include "support/random_word.hpp"

namespace comd {
namespace {

constexpr std::uint32_t compared_forces = 20;

double nearest_image(double distance, double edge) {
  return distance - edge * std::nearbyint(distance / edge);
}

// The force of all atoms of the cube on one of them. The cube is at least as wide as two cutoffs,
// so that only the nearest image of an atom can be within the cutoff.
vec3 direct_force(const cube& c, const std::vector<atom>& all, const atom& on) {
  vec3 force;
  for (const atom& other : all) {
    const vec3 apart = on.position - other.position;
    const vec3 nearest{nearest_image(apart.x, c.edge()), nearest_image(apart.y, c.edge()),
                       nearest_image(apart.z, c.edge())};
    if (other.id == on.id || nearest.square() > cutoff * cutoff) continue;
    force += interact(nearest.square()).force * nearest;
  }
  return force;
}

double greatest_force_error(const cube& c, const std::vector<atom>& all) {
  double squares = 0;
  double greatest = 0;
  const std::uint32_t every = std::max<std::uint32_t>(1, c.atoms() / compared_forces);
  std::uint32_t compared = 0;
  for (std::uint32_t id = every / 2; id < c.atoms(); id += every, ++compared) {
    const vec3 expected = direct_force(c, all, all[id]);
    squares += expected.square();
    apps::keep_greatest(greatest, std::sqrt((all[id].force - expected).square()));
  }
  return greatest / std::sqrt(squares / compared);
}

bool once_each(const std::vector<atom>& sorted, std::uint32_t atoms) {
  if (sorted.size() != atoms) return false;
  for (std::uint32_t id = 0; id < atoms; ++id) {
    if (sorted[id].id != id) return false;
  }
  return true;
}

double relative_momentum(const std::vector<atom>& all) {
  vec3 total;
  double lengths = 0;
  for (const atom& a : all) {
    total += a.momentum;
    lengths += std::sqrt(a.momentum.square());
  }
  return std::sqrt(total.square()) / lengths;
}

std::uint64_t digest_of(const std::vector<atom>& all) {
  std::uint64_t digest = 0;
  for (const atom& a : all) {
    for (const vec3& v : {a.position, a.momentum}) {
      for (const double value : {v.x, v.y, v.z}) {
        digest = apps::random_word(digest, std::bit_cast<std::uint64_t>(value));
      }
    }
  }
  return digest;
}

double drift_of(const history& all) {
  double drift = 0;
  double first = 0;
  for (std::size_t n = 1; n + 1 < all.size(); ++n) {
    const double second_difference =
        all[n + 1].potential - 2 * all[n].potential + all[n - 1].potential;
    const double conserved = all[n].total() + second_difference / 12 + all[n].of_forces;
    if (n == 1) first = conserved;
    apps::keep_greatest(drift, std::abs(conserved / first - 1));
  }
  return drift;
}

// Whether this is the problem for which CoMD's energies are published.
bool published_size(const cube& c, const history& all) {
  return c.atoms() == 32'000 && all.size() == 1 + 100;
}

}  // namespace

findings check(const cube& c, outcome& found) {
  findings f;
  std::vector<atom>& all = found.atoms;
  std::ranges::sort(all, {}, &atom::id);
  if (!once_each(all, c.atoms())) {
    f.wrong = "not every atom is there exactly once";
    return f;
  }
  const energies& first = found.energies_of_step.front();
  const energies& last = found.energies_of_step.back();
  f.energy_error = std::abs(first.total() / c.atoms() - published_energy);
  for (const energies& e : found.energies_of_step) {
    apps::keep_greatest(f.energy_change, std::abs(e.total() / first.total() - 1));
  }
  f.final_change = std::abs(last.total() / first.total() - 1);
  f.drift = drift_of(found.energies_of_step);
  double kinetic = 0;
  for (const atom& a : all) kinetic += kinetic_energy(a.momentum);
  f.momentum = relative_momentum(all);
  f.force_error = greatest_force_error(c, all);
  f.digest = digest_of(all);
  // The published value has twelve decimal places.
  if (!(f.energy_error <= 1e-12)) {
    f.wrong = "the energy at the start is not the published one";
  } else if (!(f.energy_change <= 5e-5) || !(f.drift <= 1e-5)) {
    f.wrong = "the total energy is not conserved";
  } else if (published_size(c, found.energies_of_step) && !(f.final_change < 1.5e-5)) {
    f.wrong = "the total energy at the end is not that at the start with an error of 1e-5";
  } else if (!(f.momentum <= 1e-12)) {
    f.wrong = "the total momentum is not zero";
  } else if (!(std::abs(kinetic / last.kinetic - 1) <= 1e-12)) {
    f.wrong = "the kinetic energy is not that of the momenta";
  } else if (!(f.force_error <= 1e-10)) {
    f.wrong = "the forces are not those of all pairs";
  }
  return f;
}

history add_up(const std::vector<history>& of_slabs, std::size_t steps) {
  history sums(steps + 1);
  for (std::size_t step = 0; step <= steps; ++step) {
    for (const history& one : of_slabs) {
      const std::size_t planes = one.size() / (steps + 1);
      for (std::size_t x = 0; x < planes; ++x) sums[step] += one[step * planes + x];
    }
  }
  return sums;
}

}  // namespace comd
