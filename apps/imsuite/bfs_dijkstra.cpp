// SPDX-License-Identifier: Apache-2.0

// Breadth-first search layer by layer, directed by the root as in Dijkstra's algorithm. START goes
// down the tree to the outermost layer, whose nodes ask their neighbours to JOIN. A node outside
// the tree chooses one of the nodes that asked as its parent, and acknowledges. The number of new
// nodes is reported up the tree. The search ends when there are none.

#include "imsuite/check.hpp"
#include "imsuite/solve.hpp"
#include "imsuite/solve_over_places.hpp"

namespace imsuite {
namespace {

template <class Sync>
class layered_search {
 public:
  layered_search(const input& in, Sync& sync)
      : sync_(sync), links_(in.links), root_(in.root), nodes_(in.nodes) {
    for (const int i : sync.block(in.nodes)) nodes_[i].asking.reserve(links_.neighbours(i).size());
    nodes_[root_].parent = root_;
    nodes_[root_].layer = 0;
  }

  void run() {
    const int n = nodes_.size();
    int joined = 1;
    for (int layer = 0; joined > 0; ++layer) {
      nodes_[root_].started = true;
      for (int hop = 0; hop < layer; ++hop) broadcast_start();
      sync_.each(n, [=, this](int i) { ask_neighbours(i, layer); });
      join_tree(layer + 1);
      for (int from = layer; from >= 0; --from) {
        sync_.each(n, [=, this](int i) { echo(nodes_[i], from); });
      }
      joined = sync_.known_to(root_, nodes_[root_].new_below);
      sync_.each(n, [this](int i) { nodes_[i].new_below = 0; });
    }
  }

  [[nodiscard]] solution found() const {
    solution s;
    for (const node& v : nodes_) {
      s.of_node.push_back(v.parent);
      s.children.push_back(v.children);
    }
    return s;
  }

 private:
  static constexpr int nobody = -1;

  struct node {
    int parent = nobody;
    int layer = -1;
    bool started = false;    // set by the parent
    bool passes_on = false;  // passes START on in this round
    int new_below = 0;       // new nodes below, in this phase
    std::vector<int> children;
    std::vector<int> asking;  // the senders of JOIN
  };

  void broadcast_start() {
    sync_.round(
        nodes_.size(),
        [this](int i) {
          node& v = nodes_[i];
          v.passes_on = v.started;
          v.started = false;
        },
        advance_eager,
        [this](int i) {
          if (!nodes_[i].passes_on) return;
          const auto start = [](node& w) { w.started = true; };
          for (const int child : nodes_[i].children) sync_.tell(nodes_, child, start);
        },
        resume_eager);
  }

  void ask_neighbours(int i, int outermost) {
    node& v = nodes_[i];
    const bool asks = v.started && v.layer == outermost;
    v.started = false;
    if (!asks) return;
    const auto ask = [](node& w, int outer) { w.asking.push_back(outer); };
    for (const int neighbour : links_.neighbours(i)) {
      if (neighbour == v.parent) continue;
      sync_.atomic([&] { sync_.tell(nodes_, neighbour, ask, i); });
    }
  }

  void join_tree(int layer) {
    sync_.round(
        nodes_.size(),
        [=, this](int i) {
          node& v = nodes_[i];
          if (v.asking.empty() || v.parent != nobody) return;
          v.parent = v.asking.front();
          v.layer = layer;
        },
        advance_eager, [=, this](int i) { answer(i, layer); }, resume_eager);
  }

  // Sends ACK to the parent if this node is new. No answer stands for NACK.
  void answer(int i, int layer) {
    node& v = nodes_[i];
    if (v.layer == layer) {
      const auto acknowledge = [](node& w, int child) {
        w.children.push_back(child);
        ++w.new_below;
      };
      sync_.atomic([&] { sync_.tell(nodes_, v.parent, acknowledge, i); });
    }
    v.asking.clear();
  }

  // Reports to the parent how many nodes have joined below, one layer after another.
  void echo(const node& v, int from) {
    if (v.layer != from || from == 0 || v.new_below == 0) return;
    const auto add = [](node& w, int nodes) { w.new_below += nodes; };
    sync_.atomic([&] { sync_.tell(nodes_, v.parent, add, v.new_below); });
  }

  Sync& sync_;
  const graph& links_;
  int root_;
  per_node<node> nodes_;
};

complaint check_layers(const input& in, const solution& s) {
  if (complaint c = check_tree(in, s, in.root)) return c;
  const per_node<int> layer = distances(in.links, in.root);
  for (int node = 0; node < in.nodes; ++node) {
    if (node != in.root && layer[s.of_node[node]] != layer[node] - 1) {
      return "the parent of " + node_name(node) + " is not one layer up";
    }
  }
  return {};
}

}  // namespace

const kernel bfs_dijkstra = {.name = "bfs_dijkstra",
                             .short_name = "DST",
                             .sections = {section::root, section::connected_links},
                             .usual_nodes = 512,
                             .most_nodes = 32768,
                             .solve = solve<layered_search>,
                             .solve_over_places = solve_over_places<layered_search>,
                             .check = check_layers};

}  // namespace imsuite
