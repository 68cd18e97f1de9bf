// SPDX-License-Identifier: Apache-2.0

// Colours a rooted tree with three colours (Cole and Vishkin): a node's new colour is the lowest
// bit in which it differs from its parent's, and where that bit is; after some log* n rounds six
// are left. Then the three largest go, one after the other: every node takes its parent's colour,
// so that siblings are alike, and a node of that colour finds another.

#include <algorithm>
#include <bit>

#include "imsuite/check.hpp"
#include "imsuite/solve.hpp"

namespace imsuite {
namespace {

constexpr int final_colours = 3;
constexpr int cole_vishkin_colours = 6;

template <class Sync>
class cole_vishkin {
 public:
  cole_vishkin(const input& in, Sync& sync) : sync_(sync), root_(in.root), nodes_(in.nodes) {
    for (int i = 0; i < in.nodes; ++i) {
      nodes_[i].colour = i;
      nodes_[i].parent = in.parents[i];
      if (i != root_) nodes_[in.parents[i]].children.push_back(i);
    }
  }

  void run() {
    do {
      tell_children([](node& v) { reduce(v); });
    } while (std::ranges::any_of(
        nodes_, [](int c) { return c >= cole_vishkin_colours; }, &node::colour));
    for (int colour = cole_vishkin_colours - 1; colour >= final_colours; --colour) {
      shift_down();
      sync_.each(nodes_.size(), [=, this](int i) { replace(nodes_[i], colour); });
    }
  }

  [[nodiscard]] solution found() const {
    solution s;
    for (const node& v : nodes_) s.of_node.push_back(v.colour);
    return s;
  }

 private:
  struct node {
    int colour;
    int parent;
    int heard = 0;   // the parent's colour; it alone writes it
    int before = 0;  // its colour before the shift: now that of its children
    std::vector<int> children;
  };

  // Each node tells its children its colour; then `next` gives it another.
  template <class Next>
  void tell_children(Next next) {
    sync_.round(
        nodes_.size(),
        [this](int i) {
          for (const int child : nodes_[i].children) nodes_[child].heard = nodes_[i].colour;
          if (i == root_) nodes_[i].heard = nodes_[i].colour ^ 1;  // any that differs
        },
        advance_eager, [this, next](int i) { next(nodes_[i]); }, resume_eager);
  }

  static void reduce(node& v) {
    const int bit = std::countr_zero(static_cast<unsigned>(v.colour ^ v.heard));
    v.colour = 2 * bit + ((v.colour >> bit) & 1);
  }

  // The root, which has no parent to take a colour from, takes another small one.
  void shift_down() {
    tell_children([](node& v) {
      v.before = v.colour;
      v.colour = v.heard;
    });
    nodes_[root_].colour = nodes_[root_].before == 0 ? 1 : 0;
  }

  // Neighbours of a node of this colour have others and stay as they are.
  void replace(node& v, int colour) {
    if (v.colour != colour) return;
    int free = 0;
    while (free == nodes_[v.parent].colour || free == v.before) ++free;
    v.colour = free;
  }

  Sync& sync_;
  int root_;
  per_node<node> nodes_;
};

complaint check_colours(const input& in, const solution& s) {
  if (complaint c = check_size(in, s)) return c;
  for (int node = 0; node < in.nodes; ++node) {
    const int colour = s.of_node[node];
    if (colour < 0 || colour >= final_colours) return node_name(node) + " has a fourth colour";
    if (node != in.root && colour == s.of_node[in.parents[node]]) {
      return node_name(node) + " has the colour of its parent";
    }
  }
  return {};
}

}  // namespace

const kernel vertex_coloring = {
    .name = "vertex_coloring",
    .short_name = "VC",
    .sections = {section::root, section::connected_links, section::separator, section::parents},
    .usual_nodes = 512,
    .most_nodes = 32768,
    .solve = solve<cole_vishkin>,
    .check = check_colours};

}  // namespace imsuite
