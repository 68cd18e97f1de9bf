// SPDX-License-Identifier: Apache-2.0

// What apps/jgf and apps/npb accept as the result of a published problem. The values here are
// copied from the publications once more.

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "jgf/check.hpp"
#include "jgf/linear_system.hpp"
#include "npb/problems.hpp"
#include "support/kernel_outcome.hpp"

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

bool accepts(const apps::published_result& known, double value) {
  return apps::compare(1, known.iterations, value, known.value, known.tolerance).verified;
}

// `published` is the right value, and `tolerance` the relative error that is permitted.
void expect_only(const apps::published_result& known, int iterations, double published,
                 double tolerance) {
  EXPECT_EQ(known.iterations, iterations);
  EXPECT_TRUE(accepts(known, published));
  EXPECT_TRUE(accepts(known, published * (1 + 0.99 * tolerance)));
  EXPECT_TRUE(accepts(known, published * (1 - 0.99 * tolerance)));
  EXPECT_FALSE(accepts(known, published * (1 + 1.01 * tolerance)));
  EXPECT_FALSE(accepts(known, published * (1 - 1.01 * tolerance)));
  EXPECT_FALSE(accepts(known, -published));
  EXPECT_FALSE(accepts(known, 0));
  EXPECT_FALSE(accepts(known, no_number));
  EXPECT_FALSE(accepts(known, infinite));
}

TEST(KernelCheck, SorAcceptsOnlyThePublishedSum) {
  expect_only(jgf::published_sor("A"), 100, 0.498574406322512, 1e-12);
  expect_only(jgf::published_sor("B"), 100, 1.1234778980135105, 1e-12);
  expect_only(jgf::published_sor("C"), 100, 1.9954895063582696, 1e-12);
  EXPECT_FALSE(accepts(jgf::published_sor("A"), 1.1234778980135105));
}

TEST(KernelCheck, MolDynAcceptsOnlyThePublishedEnergy) {
  expect_only(jgf::published_moldyn("A"), 50, 1731.4306625334357, 1e-12);
  expect_only(jgf::published_moldyn("B"), 50, 7397.392307839352, 1e-12);
}

TEST(KernelCheck, CgAcceptsOnlyThePublishedEigenvalue) {
  expect_only(npb::matrix_of("S").known, 15, 8.5971775078648, 1e-10);
  expect_only(npb::matrix_of("W").known, 15, 10.362595087124, 1e-10);
  expect_only(npb::matrix_of("A").known, 15, 17.130235054029, 1e-10);
}

TEST(KernelCheck, MgAcceptsOnlyThePublishedNorm) {
  expect_only(npb::grid_of("S").known, 4, 0.5307707005734e-04, 1e-8);
  expect_only(npb::grid_of("W").known, 4, 0.6467329375339e-05, 1e-8);
  expect_only(npb::grid_of("A").known, 4, 0.2433365309069e-05, 1e-8);
}

bool accepts_residual(const std::string& size, double residual) {
  return jgf::judge_lufact(1, size, residual).verified;
}

TEST(KernelCheck, LufactAcceptsAResidualUpToThePermittedOne) {
  EXPECT_TRUE(accepts_residual("A", 6));
  EXPECT_FALSE(accepts_residual("A", std::nextafter(6.0, 7.0)));
  EXPECT_TRUE(accepts_residual("B", 12));
  EXPECT_FALSE(accepts_residual("B", std::nextafter(12.0, 13.0)));
  EXPECT_TRUE(accepts_residual("C", 20));
  EXPECT_FALSE(accepts_residual("C", std::nextafter(20.0, 21.0)));
  EXPECT_FALSE(accepts_residual("A", no_number));
  EXPECT_FALSE(accepts_residual("A", infinite));
  EXPECT_NEAR(jgf::judge_lufact(1, "A", 6.5).error, 0.5, 1e-15);
}

// The right side is the sum of the columns, so that the solution is 1 everywhere.
bool accepts_solution(const std::vector<double>& x) {
  return accepts_residual("A", jgf::linear_system(x.size()).residual(x));
}

TEST(KernelCheck, LufactRefusesASolutionWithOneWrongElement) {
  const std::vector<double> right(jgf::rows_of_lufact("A"), 1.0);
  EXPECT_TRUE(accepts_solution(right));
  for (const std::size_t i : {std::size_t{0}, std::size_t{250}, std::size_t{499}}) {
    for (const double wrong : {1 + 1e-11, 1 - 1e-11, 0.0, -1.0, no_number, infinite}) {
      std::vector<double> x = right;
      x[i] = wrong;
      EXPECT_FALSE(accepts_solution(x)) << "element " << i << " is " << wrong;
    }
  }
  EXPECT_FALSE(accepts_solution(std::vector<double>(right.size(), 0.0)));
  EXPECT_FALSE(accepts_solution(std::vector<double>(right.size(), no_number)));
}

TEST(KernelCheck, LufactAcceptsTheSolutionThatItComputes) {
  jgf::linear_system s(100);
  for (std::size_t k = 0; k + 1 < s.size(); ++k) {
    s.find_pivot(k);
    for (std::size_t j = k + 1; j < s.size(); ++j) s.eliminate(k, j);
  }
  const std::vector<double> x = s.solve();
  EXPECT_TRUE(accepts_solution(x));
  EXPECT_NEAR(x[50], 1, 1e-10);
}

}  // namespace
