// SPDX-License-Identifier: Apache-2.0

// Minimum spanning tree by growing fragments (Gallager, Humblet and Spira, in lock-step). Each
// fragment is a tree. In every iteration its root asks down the tree for the lightest edge that
// leaves the fragment; the answers come back up; the root moves to the node at that edge; the
// fragments join over these edges. Of two that chose the same edge, the node with the larger number
// is the root of all that have joined, and tells them so.

#include <algorithm>
#include <limits>
#include <utility>

#include "imsuite/check.hpp"
#include "imsuite/solve.hpp"

namespace imsuite {
namespace {

constexpr int nobody = -1;

template <class Sync>
class fragment_forest {
 public:
  fragment_forest(const input& in, Sync& sync) : sync_(sync), in_(in), nodes_(in.nodes) {
    for (int i = 0; i < in.nodes; ++i) nodes_[i].fragment = i;
  }

  void run() {
    for (int fragments = nodes_.size(); fragments > 1; fragments = roots()) {
      start();
      find_lightest(fragments);
      move_roots();
      join();
      announce_roots();
    }
  }

  [[nodiscard]] solution found() const {
    solution s;
    for (int i = 0; i < nodes_.size(); ++i) {
      s.of_node.push_back(nodes_[i].parent == nobody ? i : nodes_[i].parent);
      s.children.push_back(nodes_[i].children);
    }
    return s;
  }

 private:
  // Its ends break a tie; they come in the same order from both sides.
  struct edge {
    int weight = std::numeric_limits<int>::max();
    int low = std::numeric_limits<int>::max();
    int high = 0;
    auto operator<=>(const edge&) const = default;
  };
  struct report {
    edge lightest;
    int child;
  };
  struct node {
    int parent = nobody;
    int fragment = 0;         // the number of its root
    int answers_missing = 0;  // of children
    int way_out = nobody;     // the child that reported the lightest edge, or the node beyond it
    bool signal = false;      // set by the parent
    bool passes_on = false;   // the signal, in this round
    bool answered = false;
    bool at_the_edge = false;  // the lightest edge is its own
    edge lightest;
    std::vector<int> children;
    std::vector<report> reports;
    std::vector<int> joining;  // nodes that want to be its children
  };

  // The signal goes down from where it is set, one level per round; `pass` acts on parent and
  // child.
  template <class Pass>
  void broadcast(Pass pass) {
    while (std::ranges::any_of(nodes_, &node::signal)) {
      sync_.round(
          nodes_.size(),
          [this](int i) { nodes_[i].passes_on = std::exchange(nodes_[i].signal, false); },
          advance_eager,
          [this, pass](int i) {
            if (!nodes_[i].passes_on) return;
            for (const int child : nodes_[i].children) {
              pass(nodes_[i], nodes_[child]);
              nodes_[child].signal = true;
            }
          },
          resume_eager);
    }
  }

  void start() {
    sync_.each(nodes_.size(), [this](int i) { look_out(i); });
    broadcast([](const node&, node&) {});
  }

  // The lightest edge that leaves the fragment here.
  void look_out(int i) {
    node& v = nodes_[i];
    v.lightest = {};
    v.at_the_edge = true;
    v.answered = false;
    v.answers_missing = static_cast<int>(v.children.size());
    v.signal = v.parent == nobody;
    const int* weight = in_.weights.data() + in_.links.first_edge(i);
    for (const int other : in_.links.neighbours(i)) {
      const edge e = {*weight++, std::min(i, other), std::max(i, other)};
      if (nodes_[other].fragment == v.fragment || e >= v.lightest) continue;
      v.lightest = e;
      v.way_out = other;
    }
  }

  void find_lightest(int fragments) {
    int known = 0;
    while (known < fragments) {
      sync_.round(
          nodes_.size(), [this](int i) { take_reports(nodes_[i]); }, advance_eager,
          [this, &known](int i) { answer(i, known); }, resume_eager);
    }
    sync_.each(nodes_.size(), [this](int i) { nodes_[i].signal = nodes_[i].parent == nobody; });
  }

  static void take_reports(node& v) {
    for (const report& r : v.reports) {
      --v.answers_missing;
      if (r.lightest >= v.lightest) continue;
      v.lightest = r.lightest;
      v.way_out = r.child;
      v.at_the_edge = false;
    }
    v.reports.clear();
  }

  void answer(int i, int& known) {
    node& v = nodes_[i];
    if (v.answered || v.answers_missing > 0) return;
    v.answered = true;
    sync_.atomic([&] {
      if (v.parent == nobody) {
        ++known;
      } else {
        nodes_[v.parent].reports.push_back({v.lightest, i});
      }
    });
  }

  // The signal walks with the root to the lightest edge and turns the way round behind it.
  void move_roots() {
    const auto on_its_way = [](const node& v) { return v.signal && !v.at_the_edge; };
    while (std::ranges::any_of(nodes_, on_its_way)) {
      sync_.round(
          nodes_.size(),
          [=, this](int i) {
            node& v = nodes_[i];
            v.passes_on = on_its_way(v);
            if (v.passes_on) v.signal = false;
          },
          advance_eager,
          [this](int i) {
            if (nodes_[i].passes_on) turn_round(i, nodes_[i].way_out);
          },
          resume_eager);
    }
  }

  void turn_round(int i, int next) {
    nodes_[i].parent = next;
    std::erase(nodes_[i].children, next);
    nodes_[next].parent = nobody;
    nodes_[next].children.push_back(i);
    nodes_[next].signal = true;
  }

  void join() {
    sync_.round(
        nodes_.size(), [this](int i) { ask(i); }, advance_eager, [this](int i) { check(i); },
        advance_eager, [this](int i) { add_fragment(i); }, advance_eager,
        [this](int i) {
          node& v = nodes_[i];
          v.signal = v.parent == nobody;
          if (v.signal) v.fragment = i;
        },
        advance_eager, [this](int i) { nodes_[i].joining.clear(); }, resume_eager);
  }

  void ask(int i) {
    if (!nodes_[i].signal) return;
    std::vector<int>& joining = nodes_[nodes_[i].way_out].joining;
    sync_.atomic([&joining, i] { joining.push_back(i); });
  }

  // A root joins the fragment beyond its edge, unless that one joins it and has the smaller number.
  void check(int i) {
    node& v = nodes_[i];
    if (!v.signal) return;
    const bool mutual = std::ranges::find(v.joining, v.way_out) != v.joining.end();
    if (!mutual || i < v.way_out) v.parent = v.way_out;
  }

  void add_fragment(int i) {
    node& v = nodes_[i];
    if (!v.signal || v.parent == nobody) return;
    sync_.atomic([&] { nodes_[v.parent].children.push_back(i); });
  }

  void announce_roots() {
    broadcast([](const node& v, node& child) { child.fragment = v.fragment; });
  }

  int roots() { return static_cast<int>(std::ranges::count(nodes_, nobody, &node::parent)); }

  Sync& sync_;
  const input& in_;
  per_node<node> nodes_;
};

}  // namespace

const kernel mst = {.name = "mst",
                    .short_name = "MST",
                    .sections = {section::connected_links, section::separator, section::weights},
                    .usual_nodes = 512,
                    .most_nodes = 8192,
                    .solve = solve<fragment_forest>,
                    .check = check_spanning_tree};

}  // namespace imsuite
