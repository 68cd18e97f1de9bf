// SPDX-License-Identifier: Apache-2.0

// The check of apps/kmeans: it accepts the centres and clusters of a serial run, and refuses
// others.

#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "kmeans/lloyd.hpp"

namespace {

constexpr kmeans::plan few_points{.points = 300, .clusters = 5, .rounds = 4, .seed = 3};

struct clustered {
  kmeans::outcome found;
  std::vector<int> assigned;
};

clustered cluster_alone(const kmeans::plan& p) {
  const auto n = static_cast<std::size_t>(p.points);
  std::vector<kmeans::point> points;
  for (std::size_t i = 0; i < n; ++i) points.push_back(p.point_at(i));
  clustered c{{}, std::vector<int>(n, -1)};
  c.found = kmeans::cluster_points(
      p, [&](const kmeans::centres& all) { return kmeans::assign(points, c.assigned, all); });
  return c;
}

kmeans::check_result check_after(const std::function<void(clustered&)>& spoil) {
  clustered c = cluster_alone(few_points);
  spoil(c);
  return kmeans::check(few_points, c.found, c.assigned);
}
bool accepts_after(const std::function<void(clustered&)>& spoil) {
  return check_after(spoil).right();
}

TEST(KmeansCheck, AcceptsTheClustersOfASerialRun) {
  const kmeans::check_result r = check_after([](clustered&) {});
  EXPECT_TRUE(r.right());
  EXPECT_EQ(r.difference, 0);
  EXPECT_EQ(r.wrong, 0);
  EXPECT_GT(r.inertia, 0);
  EXPECT_EQ(cluster_alone(few_points).found.rounds, 4);
}

TEST(KmeansCheck, RefusesACentreBeyondTheTolerance) {
  for (const std::size_t c : {std::size_t{0}, std::size_t{4}}) {
    for (std::size_t d = 0; d < kmeans::dimensions; ++d) {
      const auto shifted = [=](double by) {
        return accepts_after([=](clustered& all) { all.found.final_centres[c][d] += by; });
      };
      EXPECT_TRUE(shifted(0.9e-9));  // another order of additions
      EXPECT_FALSE(shifted(1.1e-9));
      EXPECT_FALSE(shifted(-1.1e-9));
      EXPECT_FALSE(shifted(std::numeric_limits<double>::quiet_NaN()));
      EXPECT_FALSE(shifted(std::numeric_limits<double>::infinity()));
    }
  }
}

TEST(KmeansCheck, KeepsThatACoordinateIsNotANumber) {
  const double no_number = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(
      check_after([=](clustered& all) { all.found.final_centres[1][0] = no_number; }).difference));
}

// A program in which a centre is not a number assigns its points accordingly.
TEST(KmeansCheck, RefusesACentreThatIsNotANumberWithTheClustersThatBelongToIt) {
  EXPECT_FALSE(accepts_after([](clustered& all) {
    all.found.final_centres[2][1] = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t i = 0; i < all.assigned.size(); ++i) {
      all.assigned[i] = kmeans::nearest(few_points.point_at(i), all.found.final_centres);
    }
  }));
}

TEST(KmeansCheck, RefusesAPointInAnotherCluster) {
  for (const std::size_t i : {std::size_t{0}, std::size_t{150}, std::size_t{299}}) {
    const kmeans::check_result r =
        check_after([i](clustered& all) { all.assigned[i] = (all.assigned[i] + 1) % 5; });
    EXPECT_FALSE(r.right());
    EXPECT_EQ(r.wrong, 1);
  }
  EXPECT_FALSE(accepts_after([](clustered& all) { all.assigned[7] = -1; }));
}

TEST(KmeansCheck, RefusesAnotherNumberOfRoundsCentresOrPoints) {
  EXPECT_FALSE(accepts_after([](clustered& all) { ++all.found.rounds; }));
  EXPECT_FALSE(accepts_after([](clustered& all) { --all.found.rounds; }));
  EXPECT_FALSE(accepts_after([](clustered& all) { all.found.final_centres.pop_back(); }));
  EXPECT_FALSE(accepts_after(
      [](clustered& all) { all.found.final_centres.push_back(all.found.final_centres.back()); }));
  EXPECT_FALSE(accepts_after([](clustered& all) { all.found.final_centres.clear(); }));
  EXPECT_FALSE(accepts_after([](clustered& all) { all.assigned.pop_back(); }));
  EXPECT_FALSE(accepts_after([](clustered& all) { all.assigned.push_back(0); }));
}

TEST(KmeansCheck, RefusesTheResultOfARoundLess) {
  clustered c = cluster_alone({.points = 300, .clusters = 5, .rounds = 3, .seed = 3});
  c.found.rounds = 4;
  EXPECT_FALSE(kmeans::check(few_points, c.found, c.assigned).right());
}

}  // namespace
