// SPDX-License-Identifier: Apache-2.0

// Colours a rooted tree with three colours (Cole and Vishkin). The new colour of a node consists of
// the lowest bit in which its colour differs from its parent's, and the position of this bit. After
// about log* n rounds six colours are left. Then the three largest colours are removed one after
// another: every node takes its parent's colour, so that siblings have the same colour, and each
// node of the removed colour chooses another.

#include <algorithm>
#include <bit>

#include "imsuite/check.hpp"
#include "imsuite/solve.hpp"
#include "imsuite/solve_over_places.hpp"

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
    const auto many = [](int colour) { return colour >= cole_vishkin_colours; };
    do {
      tell_children([this](int i) { reduce(nodes_[i]); });
    } while (sync_.total(std::ranges::any_of(sync_.own(nodes_), many, &node::colour) ? 1 : 0) > 0);
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
    int heard = 0;   // the colour of its parent, which alone writes it
    int before = 0;  // its colour before the shift, which its children have now
    std::vector<int> children;
  };

  // Each node sends its colour to its children; the root receives any small colour that differs
  // from its own. Then `next` chooses the new colour.
  template <class Next>
  void tell_children(Next next) {
    sync_.round(
        nodes_.size(),
        [this](int i) {
          const node& v = nodes_[i];
          const auto hear = [](node& w, int colour) { w.heard = colour; };
          for (const int child : v.children) sync_.tell(nodes_, child, hear, v.colour);
          if (i == root_) nodes_[i].heard = v.colour == 0 ? 1 : 0;
        },
        advance_eager, next, resume_eager);
  }

  static void reduce(node& v) {
    const int bit = std::countr_zero(static_cast<unsigned>(v.colour ^ v.heard));
    v.colour = 2 * bit + ((v.colour >> bit) & 1);
  }

  void shift_down() {
    tell_children([this](int i) {
      node& v = nodes_[i];
      v.before = v.colour;
      v.colour = v.heard;
      sync_.show(nodes_, i, &node::colour);
    });
  }

  // The neighbours of a node of this colour have other colours and keep them.
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
    .solve_over_places = solve_over_places<cole_vishkin>,
    .check = check_colours};

}  // namespace imsuite
