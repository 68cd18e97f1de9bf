// SPDX-License-Identifier: Apache-2.0

// Breadth-first search in the manner of Bellman and Ford: a node that finds a shorter path to the
// root tells its neighbours. There are as many rounds as the eccentricity of the root.

#include <algorithm>
#include <limits>

#include "imsuite/check.hpp"
#include "imsuite/solve.hpp"
#include "imsuite/solve_over_places.hpp"

namespace imsuite {
namespace {

template <class Sync>
class bellman_ford {
 public:
  bellman_ford(const input& in, Sync& sync)
      : sync_(sync), links_(in.links), rounds_(eccentricity(in.links, in.root)), nodes_(in.nodes) {
    for (const int i : sync.block(in.nodes))
      nodes_[i].incoming.reserve(links_.neighbours(i).size());
    nodes_[in.root].distance = 0;
    for (const int neighbour : links_.neighbours(in.root)) nodes_[neighbour].incoming.push_back(1);
  }

  void run() {
    for (int round = 0; round < rounds_; ++round) {
      sync_.round(
          nodes_.size(), [this](int i) { take_in(nodes_[i]); }, advance_eager,
          [this](int i) { relax(i); });
    }
  }

  [[nodiscard]] solution found() const {
    solution s;
    for (const node& v : nodes_) s.of_node.push_back(v.distance);
    return s;
  }

 private:
  static constexpr int far = std::numeric_limits<int>::max();

  struct node {
    int distance = far;
    int offered = far;          // the distance offered in the last round
    std::vector<int> incoming;  // for the next round
  };

  static void take_in(node& v) {
    v.offered = v.incoming.empty() ? far : std::ranges::min(v.incoming);
    v.incoming.clear();
  }

  void relax(int i) {
    node& v = nodes_[i];
    if (v.offered >= v.distance) return;
    v.distance = v.offered;
    const auto offer = [](node& w, int distance) { w.incoming.push_back(distance); };
    for (const int neighbour : links_.neighbours(i)) {
      sync_.atomic([&] { sync_.tell(nodes_, neighbour, offer, v.distance + 1); });
    }
  }

  Sync& sync_;
  const graph& links_;
  int rounds_;
  per_node<node> nodes_;
};

complaint check_distances(const input& in, const solution& s) {
  if (complaint c = check_size(in, s)) return c;
  const per_node<int> right = distances(in.links, in.root);
  for (int node = 0; node < in.nodes; ++node) {
    if (s.of_node[node] != right[node]) {
      return node_name(node) + " is at distance " + std::to_string(right[node]) + ", not " +
             std::to_string(s.of_node[node]);
    }
  }
  return {};
}

}  // namespace

const kernel bfs_bellman_ford = {.name = "bfs_bellman_ford",
                                 .short_name = "BF",
                                 .sections = {section::root, section::connected_links},
                                 .usual_nodes = 512,
                                 .most_nodes = 32768,
                                 .solve = solve<bellman_ford>,
                                 .solve_over_places = solve_over_places<bellman_ford>,
                                 .check = check_distances};

}  // namespace imsuite
