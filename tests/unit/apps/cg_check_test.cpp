// SPDX-License-Identifier: Apache-2.0

// The check of apps/cg: it accepts the solution of the equation within the tolerance, and refuses
// vectors that differ from it in one point.

#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cg/conjugate_gradients.hpp"
#include "cg/poisson.hpp"

namespace {

constexpr double cg_tolerance = 1e-10;
const cg::poisson small_cube_of_points(6, 5);

std::vector<double> known_solution() {
  std::vector<double> x;
  for (std::size_t k = 0; k < small_cube_of_points.points(); ++k) {
    x.push_back(small_cube_of_points.solution(k));
  }
  return x;
}

bool is_solution(const std::vector<double>& x) {
  return cg::check(small_cube_of_points, x, cg_tolerance).small;
}

std::vector<double> solved(int most_iterations) {
  const cg::poisson& p = small_cube_of_points;
  std::vector<double> x(p.points());
  std::vector<double> direction(p.points() + 2 * p.reach());
  const auto inner = std::span(direction).subspan(p.reach(), p.points());
  for (std::size_t k = 0; k < inner.size(); ++k) inner[k] = p.right_hand_side(k);
  cg::portion points{0, x, inner};
  cg::solve(p, points, cg_tolerance, most_iterations, cg::serially());
  return x;
}

TEST(CgCheck, AcceptsTheKnownAndTheComputedSolution) {
  EXPECT_TRUE(is_solution(known_solution()));
  EXPECT_TRUE(is_solution(solved(1000)));
}

TEST(CgCheck, RefusesASolutionThatWasGivenUpTooEarly) {
  EXPECT_FALSE(is_solution(solved(1)));
  EXPECT_FALSE(is_solution(solved(5)));
  EXPECT_FALSE(is_solution(std::vector<double>(small_cube_of_points.points())));
}

TEST(CgCheck, RefusesASolutionWithOneWrongPoint) {
  const std::vector<double> right = known_solution();
  for (const std::size_t k : {std::size_t{0}, right.size() / 2, right.size() - 1}) {
    for (const double by : {1e-8, -1e-8, 1.0, std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity()}) {
      std::vector<double> x = right;
      x[k] += by;
      EXPECT_FALSE(is_solution(x)) << "point " << k << " by " << by;
    }
  }
}

TEST(CgCheck, RefusesAResidualJustBeyondTwiceTheTolerance) {
  std::vector<double> x = known_solution();
  x[100] += 1e-6;
  const double residual = cg::check(small_cube_of_points, x, 1).residual;
  EXPECT_TRUE(cg::check(small_cube_of_points, x, 0.51 * residual).small);
  EXPECT_FALSE(cg::check(small_cube_of_points, x, 0.49 * residual).small);
}

TEST(CgCheck, RefusesPointsInAnotherOrderAndAnotherNumberOfThem) {
  std::vector<double> x = known_solution();
  std::swap(x[3], x[4]);
  EXPECT_FALSE(is_solution(x));
  x = known_solution();
  x.pop_back();
  EXPECT_FALSE(is_solution(x));
  x = known_solution();
  x.push_back(0);
  EXPECT_FALSE(is_solution(x));
  EXPECT_FALSE(is_solution({}));
}

}  // namespace
