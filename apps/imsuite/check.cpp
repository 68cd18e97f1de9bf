// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "imsuite/check.hpp"

namespace imsuite {

complaint check_size(const input& in, const solution& s) {
  if (s.of_node.size() == in.nodes) return {};
  return "there are answers of " + std::to_string(s.of_node.size()) + " nodes, not of " +
         std::to_string(in.nodes);
}

complaint check_leader(const input& in, const solution& s) {
  if (complaint c = check_size(in, s)) return c;
  const int leader = *std::ranges::max_element(in.ids);
  for (int node = 0; node < in.nodes; ++node) {
    if (s.of_node[node] != leader) {
      return node_name(node) + " takes " + std::to_string(s.of_node[node]) +
             " for the leader, not " + std::to_string(leader);
    }
  }
  return {};
}

complaint check_tree(const input& in, const solution& s, int root) {
  if (complaint c = check_size(in, s)) return c;
  if (s.children.size() != in.nodes) return "there are not the children of each node";
  if (s.of_node[root] != root) return "the root has a parent";
  per_node<int> listed(in.nodes, 0);
  for (int node = 0; node < in.nodes; ++node) {
    const int parent = s.of_node[node];
    if (node != root && (parent < 0 || parent >= in.nodes || !in.links.linked(node, parent))) {
      return "the parent of " + node_name(node) + " is not a neighbour";
    }
    for (const int child : s.children[node]) {
      if (child < 0 || child >= in.nodes || child == root || s.of_node[child] != node) {
        return node_name(node) + " has a child whose parent it is not";
      }
      ++listed[child];
    }
  }
  for (int node = 0; node < in.nodes; ++node) {
    if (listed[node] != (node == root ? 0 : 1)) {
      return node_name(node) + " is " + std::to_string(listed[node]) + " times a child";
    }
  }
  return {};
}

complaint check_dominated(const input& in, const solution& s) {
  if (complaint c = check_size(in, s)) return c;
  for (int node = 0; node < in.nodes; ++node) {
    if (s.of_node[node] != 0 && s.of_node[node] != 1) return node_name(node) + " is undecided";
    const auto chosen = [&s](int other) { return s.of_node[other] == 1; };
    if (!chosen(node) && std::ranges::none_of(in.links.neighbours(node), chosen)) {
      return node_name(node) + " is not chosen and neither is any neighbour";
    }
  }
  return {};
}

}  // namespace imsuite
