// SPDX-License-Identifier: Apache-2.0
#pragma once

// k-means within a place: a parallel loop over the points for each round, in any form. Each chunk
// of the loop adds up its own clusters; the sums of the chunks are added in their order, so that
// all forms find the same centres, to the last bit.

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "kmeans/lloyd.hpp"
#include "support/loop_form.hpp"
#include "support/stopwatch.hpp"

namespace kmeans {

struct clustering {
  outcome found;
  std::vector<int> assigned;  // by point: its cluster
  double seconds = 0;
};

// Context: task; may suspend.
inline clustering cluster_within_place(const plan& p, apps::loop_form& form) {
  const auto n = static_cast<std::size_t>(p.points);
  std::vector<point> points(n);
  clustering result;
  result.assigned.assign(n, -1);
  const auto assign_all = [&](const centres& all) {
    std::vector<std::vector<cluster>> of_chunk(
        static_cast<std::size_t>(apps::loop_form::chunks(n)));
    form.each_chunk(n, [&](std::size_t chunk, apps::range r) {
      const auto first = static_cast<std::size_t>(r.first);
      const auto count = static_cast<std::size_t>(r.last - r.first);
      of_chunk[chunk] = assign(std::span(points).subspan(first, count),
                               std::span(result.assigned).subspan(first, count), all);
    });
    std::vector<cluster> sums(all.size());
    for (const auto& each : of_chunk) sums = add_clusters()(std::move(sums), each);
    return sums;
  };
  form.run([&] {
    form.each_chunk(n, [&](std::size_t, apps::range r) {
      for (auto i = r.first; i < r.last; ++i) {
        const auto k = static_cast<std::size_t>(i);
        points[k] = p.point_at(k);
      }
    });
    const apps::stopwatch clock;
    result.found = cluster_points(p, assign_all);
    result.seconds = clock.seconds();
  });
  return result;
}

}  // namespace kmeans
