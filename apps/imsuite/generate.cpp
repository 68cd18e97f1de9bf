// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <numeric>
#include <utility>

#include <apgas/base/random.hpp>

#include "imsuite/input.hpp"

namespace imsuite {
namespace {

using apgas::base::random_engine;

constexpr int usual_committee = 3;

int below(random_engine& random, std::size_t bound) {
  return static_cast<int>(random.below(static_cast<std::uint32_t>(bound)));
}

void shuffle(random_engine& random, auto first, auto last) {
  for (auto n = last - first; n > 1; --n) {
    std::swap(first[n - 1], first[below(random, static_cast<std::size_t>(n))]);
  }
}

// Links each node to some earlier nodes. Each of these is a random end of a random existing edge,
// so that nodes with many neighbours get more.
graph random_links(random_engine& random, shape s, int nodes) {
  const int log_nodes = static_cast<int>(std::bit_width(static_cast<unsigned>(nodes))) - 1;
  const int wanted = s == shape::sparse ? log_nodes : 1;
  per_node<std::vector<int>> neighbours(nodes);
  std::vector<int> ends = {0};
  for (int node = 1; node < nodes; ++node) {
    for (int i = 0; i < std::min(wanted, node); ++i) {
      int other = node - 1;
      if (s != shape::chain) other = ends[static_cast<std::size_t>(below(random, ends.size()))];
      if (other == node || std::ranges::find(neighbours[node], other) != neighbours[node].end()) {
        continue;
      }
      neighbours[node].push_back(other);
      neighbours[other].push_back(node);
      ends.push_back(other);
      ends.push_back(node);
    }
  }
  graph links;
  for (std::vector<int>& row : neighbours) {
    std::ranges::sort(row);
    links.append_row(row);
  }
  return links;
}

std::vector<int> shuffled(random_engine& random, int first, int count) {
  std::vector<int> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), first);
  shuffle(random, values.begin(), values.end());
  return values;
}

// No two edges have the same weight.
std::vector<int> random_weights(random_engine& random, const graph& links) {
  const std::vector<int> drawn = shuffled(random, 1, static_cast<int>(links.edges()));
  std::vector<int> weights;
  auto next = drawn.begin();
  for (int from = 0; from < links.nodes(); ++from) {
    for (const int to : links.neighbours(from)) {
      if (to > from) {
        weights.push_back(*next++);
        continue;
      }
      const auto theirs = links.neighbours(to);
      const auto back = std::ranges::lower_bound(theirs, from) - theirs.begin();
      weights.push_back(weights[links.first_edge(to) + static_cast<std::size_t>(back)]);
    }
  }
  return weights;
}

per_node<int> parents_in(const graph& tree, int root) {
  const per_node<int> hops = distances(tree, root);
  per_node<int> parents(tree.nodes(), root);
  for (int node = 0; node < tree.nodes(); ++node) {
    for (const int other : tree.neighbours(node)) {
      if (hops[other] < hops[node]) parents[node] = other;
    }
  }
  return parents;
}

void generate_section(random_engine& random, section part, shape s, input& in) {
  switch (part) {
    case section::end:
    case section::separator:
      return;
    case section::root:
      in.root = below(random, static_cast<std::size_t>(in.nodes));
      return;
    case section::committee_size:
      in.committee_size = std::min(usual_committee, in.nodes);
      return;
    case section::links:
    case section::connected_links:
      in.links = random_links(random, s, in.nodes);
      return;
    case section::ids:
      for (const int id : shuffled(random, 1, in.nodes)) in.ids.push_back(id);
      return;
    case section::weights:
      in.weights = random_weights(random, in.links);
      return;
    case section::votes:
      for (int node = 0; node < in.nodes; ++node) in.votes.push_back(below(random, 2));
      return;
    case section::traitors:
      in.traitors = shuffled(random, 0, in.nodes);
      in.traitors.resize(static_cast<std::size_t>(traitors_among(in.nodes)));
      return;
    case section::parents:
      in.parents = parents_in(in.links, in.root);
      return;
  }
}

}  // namespace

input generate_input(const layout& sections, shape s, int nodes, std::uint64_t seed) {
  random_engine random(seed);
  input in;
  in.nodes = nodes;
  for (const section part : sections) generate_section(random, part, s, in);
  return in;
}

}  // namespace imsuite
