// SPDX-License-Identifier: Apache-2.0

// MG: V-cycles of a multigrid method for Poisson's equation on a periodic cube. On each level the
// members own the planes in blocks, and wait for each other after each operation on a level. Levels
// with fewer planes than members leave some members without work.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "npb/grid.hpp"
#include "npb/kernel.hpp"
#include "npb/problems.hpp"
#include "npb/randlc.hpp"
#include "support/stopwatch.hpp"

namespace npb {
namespace {

constexpr stencil operator_a = {-8.0 / 3, 0, 1.0 / 6, 1.0 / 12};
constexpr stencil smoother = {-3.0 / 8, 1.0 / 32, -1.0 / 64, 0};

// The right side: 1 at the ten greatest of n^3 random numbers, -1 at the ten least, 0 elsewhere.
void set_charges(grid& v) {
  constexpr std::size_t charges = 10;
  using number = std::pair<double, double*>;
  std::vector<number> least;
  std::vector<number> greatest;  // with the sign changed
  const auto offer = [](std::vector<number>& kept, const number& x) {
    if (kept.size() == charges && x.first >= kept.back().first) return;
    kept.insert(std::ranges::upper_bound(kept, x), x);
    if (kept.size() > charges) kept.pop_back();
  };
  randlc random;
  const std::ptrdiff_t n = v.size();
  for (std::ptrdiff_t k = 0; k < n; ++k) {
    for (std::ptrdiff_t j = 1; j <= n; ++j) {
      double* const points = v.line(k, j);
      for (std::ptrdiff_t i = 1; i <= n; ++i) {
        const double x = random();
        offer(least, {x, points + i});
        offer(greatest, {-x, points + i});
      }
    }
  }
  for (const number& x : least) *x.second = -1;
  for (const number& x : greatest) *x.second = 1;
  for (std::ptrdiff_t k = 0; k < n; ++k) v.update_copies(k);
}

struct hierarchy {
  explicit hierarchy(std::ptrdiff_t n) : v(n) {
    for (std::ptrdiff_t size = 2; size <= n; size *= 2) {
      u.emplace_back(size);
      r.emplace_back(size);
    }
    set_charges(v);
  }

  grid v;
  std::vector<grid> u;  // the coarsest level, of 2^3 points, is the first
  std::vector<grid> r;
  double norm = 0;
  double seconds = 0;
};

template <class Member>
class multigrid {
 public:
  multigrid(hierarchy& h, Member& member) : h_(h), member_(member), sums_(h.v.size()) {}

  void restart() {
    on_planes(h_.u.back(), [&](std::ptrdiff_t k) { h_.u.back().clear(k); });
    subtract(h_.u.size() - 1, h_.v);
  }

  void cycle() {
    const std::size_t top = h_.u.size() - 1;
    for (std::size_t level = top; level > 0; --level) {
      on_planes(h_.r[level - 1],
                [&](std::ptrdiff_t k) { restrict_to(h_.r[level - 1], h_.r[level], k, sums_); });
    }
    for (std::size_t level = 0; level <= top; ++level) {
      if (level > 0) {
        on_planes(h_.u[level], [&](std::ptrdiff_t k) {
          if (level < top) h_.u[level].clear(k);
          add_interpolation(h_.u[level], h_.u[level - 1], k, sums_);
        });
        subtract(level, level == top ? h_.v : h_.r[level]);
      }
      on_planes(h_.u[level], [&](std::ptrdiff_t k) {
        if (level == 0) h_.u[level].clear(k);
        smooth(h_.u[level], h_.r[level], smoother, k, sums_);
      });
    }
    subtract(top, h_.v);
  }

  // Of the residual on the finest level.
  double norm() {
    const grid& r = h_.r.back();
    double sum = 0;
    each_plane(r, [&](std::ptrdiff_t k) { sum += r.sum_of_squares(k); });
    const auto n = static_cast<double>(r.size());
    return std::sqrt(member_.sum(sum) / (n * n * n));
  }

 private:
  template <class F>
  void each_plane(const grid& g, F f) {
    const apps::range planes = apps::share(member_.id(), member_.members(), 0, g.size());
    for (std::ptrdiff_t k = planes.first; k < planes.last; ++k) f(k);
  }
  // Also waits for all members.
  template <class F>
  void on_planes(const grid& g, F f) {
    each_plane(g, f);
    member_.wait();
  }
  void subtract(std::size_t level, const grid& from) {
    on_planes(h_.r[level], [&](std::ptrdiff_t k) {
      subtract_product(h_.r[level], from, h_.u[level], operator_a, k, sums_);
    });
  }

  hierarchy& h_;
  Member& member_;
  line_sums sums_;
};

template <class Member>
void solve(hierarchy& h, int iterations, Member& member) {
  multigrid m(h, member);
  m.restart();
  m.cycle();
  m.restart();
  const apps::stopwatch watch;
  m.restart();
  for (int i = 0; i < iterations; ++i) m.cycle();
  const double norm = m.norm();
  if (member.id() == 0) {
    h.seconds = watch.seconds();
    h.norm = norm;
  }
}

}  // namespace

apps::kernel_outcome run_mg(const std::string& size, int iterations, const apps::task_plan& plan) {
  const grid_problem& chosen = grid_of(size);
  const int n = iterations == 0 ? chosen.known.iterations : iterations;
  hierarchy h(chosen.n);
  apps::run_in_lock_step(plan.how, plan.peer, [&](auto& member) { solve(h, n, member); });
  double expected = chosen.known.value;
  if (n != chosen.known.iterations) {
    hierarchy serial(chosen.n);
    apps::lone_member alone;
    solve(serial, n, alone);
    expected = serial.norm;
  }
  return apps::compare(h.seconds, n, h.norm, expected, chosen.known.tolerance);
}

}  // namespace npb
