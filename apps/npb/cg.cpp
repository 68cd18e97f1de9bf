// SPDX-License-Identifier: Apache-2.0

// CG: the inverse power method for an eigenvalue of a sparse matrix, with 25 steps of conjugate
// gradients in each iteration. The members own the rows in blocks. A step has a product with the
// matrix, two sums over all members and a barrier.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "npb/kernel.hpp"
#include "npb/problems.hpp"
#include "npb/sparse_matrix.hpp"
#include "support/stopwatch.hpp"

namespace npb {
namespace {

constexpr int steps = 25;

using vector = std::vector<double>;

struct unknowns {
  explicit unknowns(const matrix_problem& of)
      : a(of.n, of.nonzeros, of.shift),
        shift(of.shift),
        x(a.size(), 1.0),
        z(a.size()),
        p(a.size()),
        q(a.size()),
        r(a.size()) {}

  sparse_matrix a;
  double shift;
  vector x, z, p, q, r;
  double zeta = 0;
  double residual = 0;
  double seconds = 0;
};

// The rows of one member, and the operations on them.
template <class Member>
class solver {
 public:
  solver(unknowns& u, Member& member)
      : u_(u),
        member_(member),
        first_(bound(member.id(), member.members(), u.x.size())),
        last_(bound(member.id() + 1, member.members(), u.x.size())) {}

  void restart() { std::fill(u_.x.begin() + offset(first_), u_.x.begin() + offset(last_), 1.0); }

  // Solves A z = x approximately, estimates the eigenvalue from z and sets x to z / |z|.
  void iterate() {
    conjugate_gradients();
    const double xz = dot(u_.x, u_.z);
    const double factor = 1 / std::sqrt(dot(u_.z, u_.z));
    if (member_.id() == 0) u_.zeta = u_.shift + 1 / xz;
    each([&](std::size_t i) { u_.x[i] = factor * u_.z[i]; });
  }

 private:
  static std::size_t bound(int id, int members, std::size_t n) {
    return n * static_cast<std::size_t>(id) / static_cast<std::size_t>(members);
  }
  static std::ptrdiff_t offset(std::size_t i) { return static_cast<std::ptrdiff_t>(i); }

  template <class F>
  void each(F f) {
    for (std::size_t i = first_; i < last_; ++i) f(i);
  }
  // Also waits for all members.
  double dot(const vector& v, const vector& w) {
    double sum = 0;
    each([&](std::size_t i) { sum += v[i] * w[i]; });
    return member_.sum(sum);
  }

  void conjugate_gradients() {
    each([&](std::size_t i) {
      u_.z[i] = 0;
      u_.r[i] = u_.p[i] = u_.x[i];
    });
    double rho = dot(u_.r, u_.r);
    for (int step = 0; step < steps; ++step) {
      each([&](std::size_t i) { u_.q[i] = u_.a.row_times(i, u_.p); });
      const double alpha = rho / dot(u_.p, u_.q);
      each([&](std::size_t i) {
        u_.z[i] += alpha * u_.p[i];
        u_.r[i] -= alpha * u_.q[i];
      });
      const double next_rho = dot(u_.r, u_.r);
      const double beta = next_rho / rho;
      rho = next_rho;
      each([&](std::size_t i) { u_.p[i] = u_.r[i] + beta * u_.p[i]; });
      member_.wait();
    }
    find_residual();
  }

  // |x - A z|, which the benchmark computes in each iteration.
  void find_residual() {
    each([&](std::size_t i) { u_.r[i] = u_.x[i] - u_.a.row_times(i, u_.z); });
    const double square = dot(u_.r, u_.r);
    if (member_.id() == 0) u_.residual = std::sqrt(square);
  }

  unknowns& u_;
  Member& member_;
  std::size_t first_;
  std::size_t last_;
};

template <class Member>
void find_eigenvalue(unknowns& u, int iterations, Member& member) {
  solver s(u, member);
  s.iterate();
  s.restart();
  member.wait();
  const apps::stopwatch watch;
  for (int i = 0; i < iterations; ++i) s.iterate();
  member.wait();
  if (member.id() == 0) u.seconds = watch.seconds();
}

}  // namespace

apps::kernel_outcome run_cg(const std::string& size, int iterations, const apps::task_plan& plan) {
  const matrix_problem& chosen = matrix_of(size);
  const int n = iterations == 0 ? chosen.known.iterations : iterations;
  unknowns u(chosen);
  apps::run_in_lock_step(plan.how, plan.peer, [&](auto& member) { find_eigenvalue(u, n, member); });
  double expected = chosen.known.value;
  if (n != chosen.known.iterations) {
    unknowns serial(chosen);
    apps::lone_member alone;
    find_eigenvalue(serial, n, alone);
    expected = serial.zeta;
  }
  return apps::compare(u.seconds, n, u.zeta, expected, chosen.known.tolerance);
}

}  // namespace npb
