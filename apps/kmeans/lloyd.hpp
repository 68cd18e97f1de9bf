// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lloyd's algorithm for k-means clustering, its input, and the check of its result. Does not use
// the library, so that the program in plain MPI (apps/peers) does the same.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/greatest.hpp"
#include "support/memory.hpp"
#include "support/random_word.hpp"

namespace kmeans {

inline constexpr std::size_t dimensions = 3;

using point = std::array<double, dimensions>;
using centres = std::vector<point>;

// Sent to all places.
struct plan {
  std::int64_t points;
  int clusters;
  int rounds;  // the largest number of rounds
  std::int64_t seed;

  // Overlapping clouds around as many corners of a grid as there are clusters.
  [[nodiscard]] point point_at(std::size_t i) const {
    const auto from = static_cast<std::uint64_t>(seed);
    const std::uint64_t cloud = apps::random_word(from, i) % static_cast<std::uint64_t>(clusters);
    point p{};
    for (std::size_t d = 0; d < dimensions; ++d) {
      const double centre = apps::random_fraction(apps::random_word(~from, cloud * dimensions + d));
      const double off = apps::random_fraction(apps::random_word(from + 1, i * dimensions + d));
      p[d] = centre + 0.2 * (off - 0.5);
    }
    return p;
  }

  // The memory that the places of the host of place 0 need together, in bytes: for their points and
  // the clusters of these, which place 0 gathers; or for the check, for which it has all of them.
  [[nodiscard]] double bytes(const apps::placement& all) const {
    constexpr double each = sizeof(point) + sizeof(int);
    return static_cast<double>(points) *
           std::max(each * all.part_on_host() + sizeof(int), each + sizeof(int));
  }
};

inline double squared_distance(const point& a, const point& b) {
  double sum = 0;
  for (std::size_t d = 0; d < dimensions; ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sum;
}

// The first of the nearest centres.
inline int nearest(const point& p, const centres& all) {
  std::size_t best = 0;
  double least = squared_distance(p, all[0]);
  for (std::size_t c = 1; c < all.size(); ++c) {
    const double distance = squared_distance(p, all[c]);
    if (distance >= least) continue;
    least = distance;
    best = c;
  }
  return static_cast<int>(best);
}

// The sum of the points nearest to a centre, and how many points have changed to it in this round.
struct cluster {
  point sum{};
  std::int64_t count = 0;
  std::int64_t changed = 0;
};

struct add_clusters {
  cluster operator()(cluster a, const cluster& b) const {
    for (std::size_t d = 0; d < dimensions; ++d) a.sum[d] += b.sum[d];
    a.count += b.count;
    a.changed += b.changed;
    return a;
  }
  std::vector<cluster> operator()(std::vector<cluster> a, const std::vector<cluster>& b) const {
    std::ranges::transform(a, b, a.begin(), *this);
    return a;
  }
};

// Assigns each point to the nearest centre, and returns the sums of the clusters.
inline std::vector<cluster> assign(std::span<const point> points, std::span<int> assigned,
                                   const centres& all) {
  std::vector<cluster> sums(all.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const int c = nearest(points[i], all);
    cluster& mine = sums[static_cast<std::size_t>(c)];
    mine = add_clusters()(mine, {points[i], 1, c != assigned[i] ? 1 : 0});
    assigned[i] = c;
  }
  return sums;
}

struct outcome {
  centres final_centres;
  int rounds = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(final_centres, rounds);
  }
};

// Lloyd's algorithm. assign_all(centres) returns the sums over all points. A cluster that loses all
// its points keeps its centre. At the end each point is assigned to the nearest of the final
// centres.
template <class AssignAll>
outcome cluster_points(const plan& p, AssignAll assign_all) {
  outcome o;
  for (int c = 0; c < p.clusters; ++c) {
    o.final_centres.push_back(p.point_at(static_cast<std::size_t>(c)));
  }
  for (;; ++o.rounds) {
    const std::vector<cluster> sums = assign_all(o.final_centres);
    std::int64_t changed = 0;
    for (const cluster& c : sums) changed += c.changed;
    if (changed == 0 || o.rounds == p.rounds) return o;
    for (std::size_t c = 0; c < sums.size(); ++c) {
      for (std::size_t d = 0; d < dimensions && sums[c].count != 0; ++d) {
        o.final_centres[c][d] = sums[c].sum[d] / static_cast<double>(sums[c].count);
      }
    }
  }
}

// Checks that the centres are those of a serial run, up to the order of additions, and that each
// point is assigned to the nearest centre. Both are computed here alone, from regenerated points.
struct check_result {
  // The largest difference of a coordinate from the serial run. It is infinite if the numbers of
  // rounds, centres or points differ, and not a number if a coordinate is not a number.
  double difference = 0;
  std::int64_t wrong = 0;  // points that are not assigned to the nearest centre
  double inertia = 0;      // the sum of the squared distances from the centres

  [[nodiscard]] bool right() const { return difference <= 1e-9 && wrong == 0; }
};

inline check_result check(const plan& p, const outcome& o, const std::vector<int>& assigned) {
  const auto n = static_cast<std::size_t>(p.points);
  std::vector<point> points(n);
  for (std::size_t i = 0; i < n; ++i) points[i] = p.point_at(i);
  std::vector<int> serially(n, -1);
  const outcome serial =
      cluster_points(p, [&](const centres& all) { return assign(points, serially, all); });
  check_result result;
  if (o.final_centres.size() != serial.final_centres.size() || assigned.size() != n) {
    result.difference = HUGE_VAL;
    return result;
  }
  if (serial.rounds != o.rounds) result.difference = HUGE_VAL;
  for (std::size_t c = 0; c < o.final_centres.size(); ++c) {
    for (std::size_t d = 0; d < dimensions; ++d) {
      const double difference = o.final_centres[c][d] - serial.final_centres[c][d];
      apps::keep_greatest(result.difference, std::abs(difference));
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    const int c = nearest(points[i], o.final_centres);
    result.wrong += c != assigned[i] ? 1 : 0;
    result.inertia += squared_distance(points[i], o.final_centres[static_cast<std::size_t>(c)]);
  }
  return result;
}

}  // namespace kmeans
