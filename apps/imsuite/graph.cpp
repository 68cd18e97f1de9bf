// SPDX-License-Identifier: Apache-2.0
#include "imsuite/graph.hpp"

namespace imsuite {

per_node<int> distances(const graph& g, int from) {
  per_node<int> hops(g.nodes(), unreachable);
  std::vector<int> reached = {from};
  hops[from] = 0;
  for (std::size_t next = 0; next < reached.size(); ++next) {
    const int node = reached[next];
    for (const int neighbour : g.neighbours(node)) {
      if (hops[neighbour] != unreachable) continue;
      hops[neighbour] = hops[node] + 1;
      reached.push_back(neighbour);
    }
  }
  return hops;
}

int eccentricity(const graph& g, int from) { return std::ranges::max(distances(g, from)); }

int diameter(const graph& g) {
  int largest = 0;
  for (int node = 0; node < g.nodes(); ++node) largest = std::max(largest, eccentricity(g, node));
  return largest;
}

}  // namespace imsuite
