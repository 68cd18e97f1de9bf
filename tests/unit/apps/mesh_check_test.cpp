// SPDX-License-Identifier: Apache-2.0

// The checks of the programs on a mesh: sor, jacobi and heat. And the greatest error, by which they
// and other programs judge a result.

#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "heat/plate.hpp"
#include "jacobi/wave.hpp"
#include "sor/rows.hpp"
#include "support/greatest.hpp"

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

TEST(GreatestError, KeepsWhatIsNotANumber) {
  double greatest = 0;
  apps::keep_greatest(greatest, 2);
  apps::keep_greatest(greatest, 1);
  EXPECT_EQ(greatest, 2);
  apps::keep_greatest(greatest, not_a_number);
  apps::keep_greatest(greatest, 3);
  EXPECT_TRUE(std::isnan(greatest));
}

TEST(GreatestError, OfVectors) {
  EXPECT_EQ(apps::greatest_size(std::vector<double>{1, -3, 2}), 3);
  EXPECT_TRUE(std::isnan(apps::greatest_size(std::vector<double>{1, not_a_number, 2})));
  const std::vector<double> v{1, 2, 3};
  EXPECT_EQ(apps::greatest_difference(v, v), 0);
  EXPECT_EQ(apps::greatest_difference(v, std::vector<double>{1, 4, 3}), 2);
  EXPECT_EQ(apps::greatest_difference(v, std::vector<double>{1, 2}), HUGE_VAL);
  EXPECT_TRUE(std::isnan(apps::greatest_difference(v, std::vector<double>{not_a_number, 2, 3})));
}

template <std::size_t N>
bool sum_accepted(double sum, int iterations) {
  return sor::check<N>(sum, iterations).right();
}

TEST(SorCheck, AcceptsOnlyThePublishedSum) {
  EXPECT_TRUE(sum_accepted<1000>(0.498574406322512, 100));
  EXPECT_TRUE(sum_accepted<1500>(1.1234778980135105, 100));
  EXPECT_TRUE(sum_accepted<2000>(1.9954895063582696, 100));
  EXPECT_TRUE(sum_accepted<1000>(0.498574406322512 * (1 + 0.9e-12), 100));
  EXPECT_FALSE(sum_accepted<1000>(0.498574406322512 * (1 + 1.1e-12), 100));
  EXPECT_FALSE(sum_accepted<1000>(0.498574406322512 * (1 - 1.1e-12), 100));
  EXPECT_FALSE(sum_accepted<1000>(1.1234778980135105, 100));
  EXPECT_FALSE(sum_accepted<1000>(0, 100));
  EXPECT_FALSE(sum_accepted<1000>(not_a_number, 100));
  EXPECT_FALSE(sum_accepted<1000>(HUGE_VAL, 100));
}

TEST(SorCheck, RefusesTheSumOfAnotherNumberOfSweeps) {
  sor::serial_grid<1000> grid;
  grid.sweep(2);
  EXPECT_TRUE(sum_accepted<1000>(grid.sum(), 2));
  EXPECT_FALSE(sum_accepted<1000>(grid.sum(), 3));
  EXPECT_FALSE(sum_accepted<1000>(grid.sum(), 100));
  EXPECT_FALSE(sum_accepted<1000>(grid.sum() * (1 + 1.1e-12), 2));
}

TEST(SorCheck, RefusesOneWrongPointAlthoughTheSumIsRight) {
  sor::serial_grid<1000> grid;
  grid.sweep(2);
  const auto check_after = [&grid](std::size_t colour, std::size_t row, std::size_t k, double by) {
    sor::grid_points<1000> points = grid.points();
    points[colour][row][k] += by;
    return sor::check<1000>(grid.sum(), 2, &points);
  };
  EXPECT_TRUE(check_after(0, 0, 0, 0).right());
  for (const double by : {1e-20, -1e-7, not_a_number}) {
    EXPECT_EQ(check_after(0, 500, 250, by).different, 1);
    EXPECT_FALSE(check_after(0, 500, 250, by).right());
    EXPECT_FALSE(check_after(1, 999, 499, by).right());
  }
}

TEST(SorCheck, RefusesRowsInAnotherOrderAndAnotherNumberOfThem) {
  sor::serial_grid<1000> grid;
  grid.sweep(1);
  const auto is_right = [&grid](const sor::grid_points<1000>& points) {
    return sor::check<1000>(grid.sum(), 1, &points).right();
  };
  sor::grid_points<1000> points = grid.points();
  EXPECT_TRUE(is_right(points));
  std::swap(points[0][400], points[0][402]);
  EXPECT_FALSE(is_right(points));
  points = grid.points();
  points[1].pop_back();
  EXPECT_FALSE(is_right(points));
  points[1].clear();
  EXPECT_FALSE(is_right(points));
}

// A block in the middle of the mesh, after some steps.
TEST(JacobiCheck, RefusesOneWrongPointOfABlock) {
  constexpr int steps = 5;
  const jacobi::wave w(20);
  const auto is_right = [&w](std::size_t row, std::size_t column, double by) {
    const auto point = [&](std::size_t i, std::size_t j) {
      return w.shrunk(steps) * w.start(4 + i, 7 + j) + (i == row && j == column ? by : 0);
    };
    return jacobi::small_error(jacobi::largest_error(w, steps, 4, 6, 7, 8, point), steps);
  };
  EXPECT_TRUE(is_right(0, 0, 0));
  for (const std::size_t row : {std::size_t{0}, std::size_t{3}, std::size_t{5}}) {
    for (const std::size_t column : {std::size_t{0}, std::size_t{7}}) {
      EXPECT_TRUE(is_right(row, column, 1e-14));  // the limit is 1.5e-14
      EXPECT_FALSE(is_right(row, column, 1.6e-14));
      EXPECT_FALSE(is_right(row, column, -1.6e-14));
      EXPECT_FALSE(is_right(row, column, not_a_number));
      EXPECT_FALSE(is_right(row, column, -HUGE_VAL));
    }
  }
}

heat::plate plate_after(int steps) {
  heat::plate p(12, 9);
  for (int step = 0; step < steps; ++step) p.advance(step, 1, p.lines() + 1);
  return p;
}

TEST(HeatCheck, RefusesOneWrongPoint) {
  constexpr int steps = 7;
  heat::plate right = plate_after(steps);
  EXPECT_TRUE(heat::small_error(right.largest_error(steps), steps));
  for (const double by : {4e-14, -4e-14, 1.0, not_a_number, HUGE_VAL}) {
    for (const int line : {1, 6, 12}) {
      heat::plate p = plate_after(steps);
      p.line(steps, line)[8] += by;
      EXPECT_FALSE(heat::small_error(p.largest_error(steps), steps)) << line << " by " << by;
    }
  }
  heat::plate early = plate_after(steps - 1);
  EXPECT_FALSE(heat::small_error(early.largest_error(steps), steps));
}

}  // namespace
