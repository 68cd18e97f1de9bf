// SPDX-License-Identifier: Apache-2.0
#pragma once

// The Poisson equation on a cube of n points in each direction, with a known solution: seven-point
// differences, and zero on the boundary. Does not use the library, so that the program in plain MPI
// (apps/peers) does the same.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "support/memory.hpp"
#include "support/random_word.hpp"

namespace cg {

// Point (x, y, z) has number x + n * y + n * n * z.
class poisson {
 public:
  poisson(std::size_t n, std::uint64_t seed) : n_(n), seed_(seed), zeros_(n) {}

  [[nodiscard]] std::size_t points() const { return n_ * n_ * n_; }
  // How far the numbers of neighbours are apart at most.
  [[nodiscard]] std::size_t reach() const { return n_ * n_; }

  // The memory that the places of the host of place 0 need together, in bytes: four vectors over
  // the places, and the solution that place 0 gathers and checks.
  [[nodiscard]] double bytes(const apps::placement& all) const {
    return sizeof(double) * static_cast<double>(points()) * (4 * all.part_on_host() + 1);
  }

  // The known solution, which is random.
  [[nodiscard]] double solution(std::size_t k) const {
    return apps::random_fraction(apps::random_word(seed_, k));
  }
  // The right-hand side: the matrix times the solution.
  [[nodiscard]] double right_hand_side(std::size_t k) const {
    return difference(k, [this](std::size_t other) { return solution(other); });
  }
  // A row of the matrix times a vector, of which value(k) is an element.
  template <class Value>
  [[nodiscard]] double difference(std::size_t k, Value value) const {
    double sum = 6 * value(k);
    for (const std::size_t step : {std::size_t{1}, n_, n_ * n_}) {
      const std::size_t along = k / step % n_;
      if (along > 0) sum -= value(k - step);
      if (along + 1 < n_) sum -= value(k + step);
    }
    return sum;
  }

  // The matrix times p, for the points [first, last). from and to point to point `first`. All
  // points up to reach() away can be read; those outside of the cube are zero. Returns the inner
  // product of the points of both.
  double multiply(std::size_t first, std::size_t last, const double* from, double* to) const {
    double product = 0;
    for (std::size_t k = first; k < last;) {
      const std::size_t x = k % n_;
      const std::size_t count = std::min(last - k, n_ - x);
      product += multiply_row(k, x, count, from + (k - first), to + (k - first));
      k += count;
    }
    return product;
  }

  // The least eigenvalue of the matrix. The error of a solution is at most the residual divided by
  // it.
  [[nodiscard]] double least_eigenvalue() const {
    const double s = std::sin(std::numbers::pi / (2 * static_cast<double>(n_ + 1)));
    return 12 * s * s;
  }

 private:
  double multiply_row(std::size_t k, std::size_t x, std::size_t count, const double* from,
                      double* to) const {
    const std::size_t y = k / n_ % n_;
    const double* const above = y > 0 ? from - n_ : zeros_.data();
    const double* const below = y + 1 < n_ ? from + n_ : zeros_.data();
    const double* const front = from - n_ * n_;
    const double* const back = from + n_ * n_;
    for (std::size_t i = 0; i < count; ++i) {
      to[i] = 6 * from[i] - above[i] - below[i] - front[i] - back[i];
    }
    const std::size_t with_left = x > 0 ? 0 : 1;
    for (std::size_t i = with_left; i < count; ++i) to[i] -= *(from + i - 1);
    const std::size_t with_right = x + count < n_ ? count : count - 1;
    for (std::size_t i = 0; i < with_right; ++i) to[i] -= from[i + 1];
    double product = 0;
    for (std::size_t i = 0; i < count; ++i) product += from[i] * to[i];
    return product;
  }

  std::size_t n_;
  std::uint64_t seed_;
  std::vector<double> zeros_;
};

// The residual and the error of a vector, computed from the definition by one process alone.
struct check_result {
  double residual = 0;  // relative to the right-hand side
  double error = 0;     // the norm of the difference from the known solution
  // The vector has all points, its residual is near the tolerance, and explains the error.
  bool small = false;
};

inline check_result check(const poisson& p, std::span<const double> found, double tolerance) {
  if (found.size() != p.points()) return {};
  double residual = 0;
  double right = 0;
  double error = 0;
  for (std::size_t k = 0; k < p.points(); ++k) {
    const double b = p.right_hand_side(k);
    const double r = b - p.difference(k, [&](std::size_t other) { return found[other]; });
    residual += r * r;
    right += b * b;
    error += (found[k] - p.solution(k)) * (found[k] - p.solution(k));
  }
  const double allowed = 1.1 * std::sqrt(residual) / p.least_eigenvalue();
  const double relative = std::sqrt(residual / right);
  return {relative, std::sqrt(error),
          relative <= 2 * tolerance && std::sqrt(error) <= allowed + 1e-12};
}

}  // namespace cg
