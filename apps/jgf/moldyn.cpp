// SPDX-License-Identifier: Apache-2.0

// Molecular dynamics: the particles move by their velocities, and every pair that is close enough
// exerts a force. The members own the particles in blocks, and the pairs by their first particle,
// in turn. Each member adds up the forces of its pairs on its own copy of all forces. The energies
// are sums over all members (accumulators). The order of these sums depends on the members, so that
// the result differs by rounding from that of the serial program, by less than 1e-14 after 50
// moves.

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "jgf/check.hpp"
#include "jgf/kernel.hpp"
#include "jgf/particles.hpp"
#include "support/stopwatch.hpp"

namespace jgf {
namespace {

constexpr int interval = 10;     // moves between two corrections of the temperature
constexpr int last_scaled = 19;  // no correction from this move on

struct simulation {
  simulation(int cells, int members)
      : all(cells),
        forces(static_cast<std::size_t>(members), pair_forces{std::vector<vec3>(all.size())}) {}

  particles all;
  std::vector<pair_forces> forces;  // one for each member
  double kinetic = 0;
  double potential = 0;
  double virial = 0;
  double mean_velocity = 0;
};

// The forces of the member's pairs, on its own copy.
template <class Member>
void add_up_pairs(const particles& all, pair_forces& own, const Member& member) {
  own.on.assign(all.size(), vec3());
  own.potential = 0;
  own.virial = 0;
  for (auto i = static_cast<std::size_t>(member.id()); i < all.size();
       i += static_cast<std::size_t>(member.members())) {
    all.add_forces(i, own);
  }
}

vec3 total_force(const std::vector<pair_forces>& forces, std::size_t i) {
  vec3 total = forces[0].on[i];
  for (std::size_t m = 1; m < forces.size(); ++m) total += forces[m].on[i];
  return total;
}

template <class Member>
void simulate(simulation& s, int moves, Member& member) {
  constexpr double h = particles::time_step;
  particles& all = s.all;
  pair_forces& own = s.forces[static_cast<std::size_t>(member.id())];
  const apps::range range =
      apps::share(member.id(), member.members(), 0, static_cast<std::ptrdiff_t>(all.size()));
  const auto first = static_cast<std::size_t>(range.first);
  const auto last = static_cast<std::size_t>(range.last);
  for (int move = 0; move < moves; ++move) {
    for (std::size_t i = first; i < last; ++i) all.move(i);
    member.wait();
    add_up_pairs(all, own, member);
    const double potential = member.sum(own.potential);
    const double virial = member.sum(own.virial);

    double squares = 0;
    double lengths = 0;
    for (std::size_t i = first; i < last; ++i) {
      const double square = all.accelerate(i, total_force(s.forces, i));
      squares += square;
      lengths += std::sqrt(square);
    }
    double kinetic = member.sum(squares) / (h * h);
    lengths = member.sum(lengths);
    if (move < last_scaled && (move + 1) % interval == 0) {
      const double factor = std::sqrt(particles::temperature / all.temperature_of(kinetic));
      for (std::size_t i = first; i < last; ++i) all.scale_velocity(i, factor);
      kinetic = particles::temperature / all.temperature_of(1);
    }
    if (member.id() == 0) {
      s.kinetic = 24 * kinetic;
      s.potential = 4 * potential;
      s.virial = virial;
      s.mean_velocity = lengths / h / static_cast<double>(all.size());
    }
  }
}

}  // namespace

apps::kernel_outcome run_moldyn(const std::string& size, int iterations,
                                const apps::task_plan& plan) {
  constexpr int cells[] = {8, 13};
  const apps::published_result known = published_moldyn(size);
  const int moves = iterations == 0 ? known.iterations : iterations;

  simulation s(cells[index_of(size)], plan.how.members());
  const apps::stopwatch watch;
  apps::run_in_lock_step(plan.how, plan.peer, [&](auto& member) { simulate(s, moves, member); });
  const double seconds = watch.seconds();

  double expected = known.value;
  if (moves != known.iterations) {
    simulation serial(cells[index_of(size)], 1);
    apps::lone_member alone;
    simulate(serial, moves, alone);
    expected = serial.kinetic;
  }
  return apps::compare(seconds, moves, s.kinetic, expected, known.tolerance);
}

}  // namespace jgf
