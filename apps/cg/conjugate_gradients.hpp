// SPDX-License-Identifier: Apache-2.0
#pragma once

// The method of conjugate gradients of Hestenes and Stiefel, for the points of one place. Does not
// use the library, so that the program in plain MPI (apps/peers) does the same.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "cg/poisson.hpp"

namespace cg {

// The points [first, first + x.size()) of this place. `direction` has a halo on both sides.
struct portion {
  std::size_t first;
  std::span<double> x;          // zero at first
  std::span<double> direction;  // the right-hand side at first, as is the residual
  std::vector<double> residual = {direction.begin(), direction.end()};
  std::vector<double> product = std::vector<double>(x.size());  // matrix times direction
};

struct outcome {
  int iterations;
  double residual;  // relative to the right-hand side, as the recurrence has it
};

// Solves the equation until the residual is below the tolerance. `how` has
//   sum_over(n, f): the sum over all places of f(first, last), called for parts of [0, n);
//   for_all(n, f): calls f in the same way, without a sum;
//   exchange_halo(): sends the outermost points of the direction to the neighbours.
template <class How>
outcome solve(const poisson& p, portion& mine, double tolerance, int most_iterations,
              const How& how) {
  const std::size_t n = mine.x.size();
  double* const x = mine.x.data();
  double* const direction = mine.direction.data();
  double* const residual = mine.residual.data();
  double* const product = mine.product.data();
  double square = how.sum_over(n, [=](std::size_t i, std::size_t last) {
    double sum = 0;
    for (; i < last; ++i) sum += residual[i] * residual[i];
    return sum;
  });
  const double right = square;
  int iterations = 0;
  while (square > tolerance * tolerance * right && iterations < most_iterations) {
    how.exchange_halo();
    const double curvature = how.sum_over(n, [&](std::size_t i, std::size_t last) {
      return p.multiply(mine.first + i, mine.first + last, direction + i, product + i);
    });
    const double step = square / curvature;
    const double next = how.sum_over(n, [=](std::size_t i, std::size_t last) {
      double sum = 0;
      for (; i < last; ++i) {
        x[i] += step * direction[i];
        residual[i] -= step * product[i];
        sum += residual[i] * residual[i];
      }
      return sum;
    });
    const double ratio = next / square;
    how.for_all(n, [=](std::size_t i, std::size_t last) {
      for (; i < last; ++i) direction[i] = residual[i] + ratio * direction[i];
    });
    square = next;
    ++iterations;
  }
  return {iterations, std::sqrt(square / right)};
}

// One part, one place, one thread.
struct serially {
  template <class F>
  double sum_over(std::size_t n, F f) const {
    return f(std::size_t{0}, n);
  }
  template <class F>
  void for_all(std::size_t n, F f) const {
    f(std::size_t{0}, n);
  }
  void exchange_halo() const {}
};

}  // namespace cg
