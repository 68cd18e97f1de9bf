// SPDX-License-Identifier: Apache-2.0
#pragma once

// Delta stepping by threads of OpenMP, as in the GAP benchmark suite (Beamer, Asanovic and
// Patterson, 2015): each thread has buckets of its own, all arcs of a vertex are followed at once,
// and a thread whose part of the present bucket is small empties it without waiting for the others.
// Other than there, a vertex that is in a bucket twice is followed once.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sssp/weighted_graph.hpp"

namespace sssp {

struct openmp_result {
  std::vector<length> lengths;
  std::int64_t rounds = 0;
};

// Requires: the program is built with OpenMP. Context: a thread that is not a worker.
openmp_result search_by_openmp(const arcs& graph, std::size_t root, length delta, int threads);

}  // namespace sssp
