// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>

#include "imsuite/check.hpp"

namespace imsuite {
namespace {

// The weight of a minimum spanning tree, by Prim's algorithm.
std::int64_t least_weight(const input& in) {
  using offer = std::pair<int, int>;  // weight, node
  std::priority_queue<offer, std::vector<offer>, std::greater<>> offers;
  per_node<char> reached(in.nodes, 0);
  std::int64_t sum = 0;
  offers.emplace(0, 0);
  while (!offers.empty()) {
    const auto [weight, node] = offers.top();
    offers.pop();
    if (std::exchange(reached[node], 1) != 0) continue;
    sum += weight;
    const int* next = in.weights.data() + in.links.first_edge(node);
    for (const int other : in.links.neighbours(node)) offers.emplace(*next++, other);
  }
  return sum;
}

int weight_between(const input& in, int a, int b) {
  const auto row = in.links.neighbours(a);
  const auto place = std::ranges::lower_bound(row, b) - row.begin();
  return in.weights[in.links.first_edge(a) + static_cast<std::size_t>(place)];
}

}  // namespace

complaint check_spanning_tree(const input& in, const solution& s) {
  if (complaint c = check_size(in, s)) return c;
  int root = 0;
  while (root < in.nodes && s.of_node[root] != root) ++root;
  if (root == in.nodes) return "the tree has no root";
  if (complaint c = check_tree(in, s, root)) return c;
  std::int64_t sum = 0;
  std::vector<int> reached = {root};
  for (std::size_t next = 0; next < reached.size(); ++next) {
    const int node = reached[next];
    for (const int child : s.children[node]) {
      reached.push_back(child);
      sum += weight_between(in, node, child);
    }
  }
  if (std::cmp_not_equal(reached.size(), in.nodes)) {
    return "only " + std::to_string(reached.size()) + " nodes hang below the root";
  }
  const std::int64_t least = least_weight(in);
  if (sum == least) return {};
  return "the tree weighs " + std::to_string(sum) + ", a minimum one " + std::to_string(least);
}

}  // namespace imsuite
