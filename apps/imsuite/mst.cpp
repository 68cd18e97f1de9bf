// SPDX-License-Identifier: Apache-2.0

// Minimum spanning tree by growing fragments (Gallager, Humblet and Spira, in lock-step). Each
// fragment is a tree. In every iteration its root asks down the tree for the lightest edge that
// leaves the fragment, and the answers come back up. The root moves to the node at that edge, and
// the fragments join over these edges. If two fragments chose the same edge, the node with the
// larger number becomes the root of all joined fragments, and tells their nodes so.

#include <algorithm>
#include <limits>
#include <utility>

#include "imsuite/check.hpp"
#include "imsuite/solve.hpp"
#include "imsuite/solve_over_places.hpp"

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
      broadcast();
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
  // The ends break ties; they have the same order from both sides.
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
    // The child that reported the lightest edge, or the node beyond that edge.
    int way_out = nobody;
    bool signal = false;     // set by the parent
    bool passes_on = false;  // passes the signal on in this round
    bool answered = false;
    bool at_the_edge = false;  // the lightest edge starts at this node
    edge lightest;
    std::vector<int> children;
    std::vector<report> reports;
    std::vector<int> joining;  // nodes that want to become its children
  };

  // The signal goes down from where it is set, one level per round, together with the root's
  // number.
  void broadcast() {
    while (anywhere(&node::signal)) {
      sync_.round(
          nodes_.size(),
          [this](int i) { nodes_[i].passes_on = std::exchange(nodes_[i].signal, false); },
          advance_eager, [this](int i) { pass_on(i); }, resume_eager);
    }
  }

  void pass_on(int i) {
    const node& v = nodes_[i];
    if (!v.passes_on) return;
    sync_.show(nodes_, i, &node::fragment);
    const auto take = [](node& w, int fragment) {
      w.fragment = fragment;
      w.signal = true;
    };
    for (const int child : v.children) sync_.tell(nodes_, child, take, v.fragment);
  }

  template <class Property>
  bool anywhere(Property property) {
    return sync_.total(std::ranges::any_of(sync_.own(nodes_), property) ? 1 : 0) > 0;
  }

  void start() {
    sync_.each(nodes_.size(), [this](int i) { look_out(i); });
    broadcast();
  }

  // Finds the lightest edge from this node that leaves the fragment.
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
    int known = 0;  // lightest edges known at the roots of this place
    while (sync_.total(known) < fragments) {
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
        const auto receive = [](node& w, const report& r) { w.reports.push_back(r); };
        sync_.tell(nodes_, v.parent, receive, report{v.lightest, i});
      }
    });
  }

  // The signal moves with the root to the lightest edge, and reverses the path behind it.
  void move_roots() {
    const auto on_its_way = [](const node& v) { return v.signal && !v.at_the_edge; };
    while (anywhere(on_its_way)) {
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
    const auto become_root = [](node& w, int child) {
      w.parent = nobody;
      w.children.push_back(child);
      w.signal = true;
    };
    sync_.tell(nodes_, next, become_root, i);
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
    const auto want_in = [](node& w, int root) { w.joining.push_back(root); };
    sync_.atomic([&] { sync_.tell(nodes_, nodes_[i].way_out, want_in, i); });
  }

  // A root joins the fragment beyond its edge, unless that fragment joins it and has the smaller
  // number.
  void check(int i) {
    node& v = nodes_[i];
    if (!v.signal) return;
    const bool mutual = std::ranges::find(v.joining, v.way_out) != v.joining.end();
    if (!mutual || i < v.way_out) v.parent = v.way_out;
  }

  void add_fragment(int i) {
    node& v = nodes_[i];
    if (!v.signal || v.parent == nobody) return;
    const auto add = [](node& w, int child) { w.children.push_back(child); };
    sync_.atomic([&] { sync_.tell(nodes_, v.parent, add, i); });
  }

  int roots() {
    const auto here = std::ranges::count(sync_.own(nodes_), nobody, &node::parent);
    return sync_.total(static_cast<int>(here));
  }

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
                    .solve_over_places = solve_over_places<fragment_forest>,
                    .check = check_spanning_tree};

}  // namespace imsuite
