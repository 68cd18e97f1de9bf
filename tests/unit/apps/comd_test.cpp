// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "comd/check.hpp"
#include "comd/one_place.hpp"
#include "comd/run_slab.hpp"

// The simulation of a small cube, alone and in several slabs, and its checks, which accept the
// right result and refuse what is wrong in any one way.
namespace {

using comd::above;
using comd::below;
using comd::both_sides;
using comd::outcome;

constexpr comd::problem small_cube{10, 5, 1};

outcome simulate_cube(const comd::problem& p) {
  comd::serially how;
  const comd::slab_outcome alone = comd::run_slab(p, 0, 1, how);
  return {alone.atoms, comd::add_up({alone.energies_of_step}, static_cast<std::size_t>(p.steps))};
}

const outcome& right_outcome() {
  static const outcome once = simulate_cube(small_cube);
  return once;
}

std::string said_about(outcome o) { return comd::check(comd::cube(small_cube.lattice), o).wrong; }
std::string said_about(const std::function<void(outcome&)>& spoil) {
  outcome o = right_outcome();
  spoil(o);
  return said_about(o);
}

// Runs a step of all slabs, one after another.
template <class T>
std::vector<both_sides<T>> exchanged(const std::vector<both_sides<T>>& out) {
  const std::size_t n = out.size();
  std::vector<both_sides<T>> in(n);
  for (std::size_t i = 0; i < n; ++i) {
    in[i][below] = out[(i + n - 1) % n][above];
    in[i][above] = out[(i + 1) % n][below];
  }
  return in;
}

class several_slabs {
 public:
  several_slabs(const comd::problem& p, std::size_t slabs) {
    const comd::cube c(p.lattice);
    for (std::size_t i = 0; i < slabs; ++i) {
      const auto [first, last] = comd::share(c.cells(), i, slabs);
      slabs_.emplace_back(c, first, last, comd::initial_atoms(c, p.seed));
    }
    histories_.resize(slabs);
    act(0);
    for (int step = 0; step < p.steps; ++step) {
      std::vector<both_sides<comd::leaver>> out;
      for (comd::slab& s : slabs_) {
        for (std::size_t row = 0; row < s.rows(); ++row) s.move(row);
        out.push_back(s.leavers());
      }
      const auto in = exchanged(out);
      for (std::size_t i = 0; i < slabs; ++i) slabs_[i].take_arrivals(in[i]);
      act(0.5 * comd::time_step);
    }
    found.energies_of_step = comd::add_up(histories_, static_cast<std::size_t>(p.steps));
    for (const comd::slab& s : slabs_) {
      const std::vector<comd::atom> own = s.atoms();
      found.atoms.insert(found.atoms.end(), own.begin(), own.end());
    }
  }

  outcome found;

 private:
  void act(double time) {
    std::vector<both_sides<double>> out;
    for (comd::slab& s : slabs_) {
      for (std::size_t row = 0; row < s.rows(); ++row) s.take_in(row);
      out.push_back(s.boundary());
    }
    const auto in = exchanged(out);
    for (std::size_t i = 0; i < slabs_.size(); ++i) {
      slabs_[i].take_halo(in[i]);
      for (std::size_t row = 0; row < slabs_[i].rows(); ++row) slabs_[i].accelerate(row, time);
      const auto now = slabs_[i].plane_energies();
      histories_[i].insert(histories_[i].end(), now.begin(), now.end());
    }
  }

  std::vector<comd::slab> slabs_;
  std::vector<comd::history> histories_;
};

TEST(comd_check, accepts_what_is_right) { EXPECT_EQ(said_about(right_outcome()), ""); }

TEST(comd_check, smallest_cube) {
  // Two link cells along each edge: both neighbours of a cell are the same cell.
  outcome o = simulate_cube({4, 50, 7});
  EXPECT_EQ(comd::check(comd::cube(4), o).wrong, "");
}

TEST(comd_check, number_of_slabs_changes_no_bit) {
  const comd::cube c(small_cube.lattice);
  outcome one = right_outcome();
  const std::uint64_t digest = comd::check(c, one).digest;
  for (const std::size_t slabs : {1, 2, 3, 4, 5, 6}) {
    outcome several = several_slabs(small_cube, slabs).found;
    const comd::findings f = comd::check(c, several);
    EXPECT_EQ(f.wrong, "") << slabs;
    EXPECT_EQ(f.digest, digest) << slabs;
    EXPECT_EQ(several.energies_of_step.back().total(), one.energies_of_step.back().total());
  }
}

TEST(comd_check, atoms_cross_the_boundaries_of_cells) {
  // In this cube some atoms of the lattice are on the boundary of two cells, on which slabs end.
  const comd::problem p{7, 60, 3};
  const comd::cube c(p.lattice);
  outcome one = simulate_cube(p);
  std::size_t moved = 0;
  for (const comd::atom& a : one.atoms) {
    if (c.cell_of(a.position.x) != c.cell_of(c.lattice_position(a.id).x)) ++moved;
  }
  EXPECT_GT(moved, 50U);
  const comd::findings alone = comd::check(c, one);
  EXPECT_EQ(alone.wrong, "");
  for (const std::size_t slabs : {2, 3, 4}) {
    outcome several = several_slabs(p, slabs).found;
    EXPECT_EQ(comd::check(c, several).digest, alone.digest) << slabs;
  }
}

TEST(comd_check, every_atom_exactly_once) {
  const std::string refused = "not every atom is there exactly once";
  EXPECT_EQ(said_about([](outcome& o) { o.atoms.pop_back(); }), refused);
  EXPECT_EQ(said_about([](outcome& o) { o.atoms.push_back(o.atoms.front()); }), refused);
  EXPECT_EQ(said_about([](outcome& o) { o.atoms[5] = o.atoms[6]; }), refused);
  EXPECT_EQ(said_about([](outcome& o) { o.atoms.clear(); }), refused);
}

TEST(comd_check, published_energy) {
  EXPECT_EQ(said_about([](outcome& o) { o.energies_of_step.front().potential += 1e-7; }),
            "the energy at the start is not the published one");
}

TEST(comd_check, energy_is_conserved) {
  const std::string refused = "the total energy is not conserved";
  EXPECT_EQ(said_about([](outcome& o) { o.energies_of_step[3].kinetic *= 1.001; }), refused);
  EXPECT_EQ(said_about([](outcome& o) { o.energies_of_step[3].potential *= 1.00003; }), refused);
  EXPECT_EQ(said_about([](outcome& o) {
              o.energies_of_step[3].kinetic = std::numeric_limits<double>::quiet_NaN();
            }),
            refused);
}

TEST(comd_check, energy_at_the_end_of_the_published_size) {
  // The energies of a method that conserves what velocity Verlet conserves, and changes the total
  // energy evenly.
  const comd::cube c(20);
  const auto said_about_change = [&c](double change, std::size_t steps) {
    outcome o{comd::initial_atoms(c, 1), comd::history(steps + 1)};
    const double energy = c.atoms() * comd::published_energy;
    for (std::size_t n = 0; n <= steps; ++n) {
      const double changed = energy * change * static_cast<double>(n) / static_cast<double>(steps);
      o.energies_of_step[n] = {energy + changed, 0, -changed};
    }
    return comd::check(c, o).wrong;
  };
  const std::string refused =
      "the total energy at the end is not that at the start with an error of 1e-5";
  EXPECT_NE(said_about_change(1.4e-5, 100), refused);
  EXPECT_EQ(said_about_change(1.6e-5, 100), refused);
  EXPECT_EQ(said_about_change(-1.6e-5, 100), refused);
  EXPECT_NE(said_about_change(1.6e-5, 99), refused);
}

TEST(comd_check, momentum_is_zero) {
  EXPECT_EQ(said_about([](outcome& o) { o.atoms[17].momentum.x += 1e-6; }),
            "the total momentum is not zero");
}

TEST(comd_check, kinetic_energy_is_that_of_the_momenta) {
  EXPECT_EQ(said_about([](outcome& o) {
              o.atoms[17].momentum.x += 1;
              o.atoms[18].momentum.x -= 1;
            }),
            "the kinetic energy is not that of the momenta");
}

TEST(comd_check, forces_are_those_of_all_pairs) {
  const std::string refused = "the forces are not those of all pairs";
  EXPECT_EQ(said_about([](outcome& o) {
              for (comd::atom& a : o.atoms) a.force.y += 1e-9;
            }),
            refused);
  EXPECT_EQ(said_about([](outcome& o) {
              for (comd::atom& a : o.atoms) a.force.y = std::numeric_limits<double>::quiet_NaN();
            }),
            refused);
  EXPECT_EQ(said_about([](outcome& o) {
              for (comd::atom& a : o.atoms) {
                if (a.id % 100 == 0) a.position.z += 0.01;
              }
            }),
            refused);
}

}  // namespace
