// SPDX-License-Identifier: Apache-2.0
#pragma once

// The trees of the Unbalanced Tree Search benchmark (Olivier et al., LCPC 2006), identical to those
// of its reference implementation 2.1. The number of children of a tree node is drawn from a random
// number, the SHA-1 state of the node; the state of a child is the hash of its parent's state and
// its index. So any tree node can be expanded at any place, and only 24 bytes of it need to be
// sent.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "uts/sha1.hpp"

namespace uts {

enum class tree_type { binomial = 0, geometric = 1, hybrid = 2, balanced = 3 };
enum class tree_shape { linear = 0, exponential = 1, cyclic = 2, fixed = 3 };

// The official flags and defaults. Sent between places as bytes.
struct parameters {
  tree_type type = tree_type::geometric;   // -t
  double root_branching = 4.0;             // -b
  int seed = 0;                            // -r
  tree_shape shape = tree_shape::linear;   // -a   geometric: how branching depends on depth
  int depth = 6;                           // -d   geometric, balanced: the limit of depth
  int non_leaf_branching = 4;              // -m   binomial
  double non_leaf_probability = 15. / 64;  // -q   binomial
  double shift_depth = 0.5;                // -f   hybrid: geometric down to this fraction of -d

  bool operator==(const parameters&) const = default;
};

struct node {
  digest state;
  std::int32_t depth;
};

// The result of a search, or of a part of it.
struct counts {
  std::uint64_t nodes = 0;
  std::uint64_t inner = 0;  // nodes that have children
  std::int32_t depth = 0;

  [[nodiscard]] std::uint64_t leaves() const { return nodes - inner; }

  // Counts the children of `n`, and counts `n` as an inner node if it has any. So a leaf, the most
  // frequent kind of node, costs nothing. The caller must count the root.
  void add_children(const node& n, int children) {
    if (children == 0) return;
    nodes += static_cast<std::uint64_t>(children);
    ++inner;
    if (n.depth >= depth) depth = n.depth + 1;
  }
  friend counts operator+(const counts& a, const counts& b) {
    return {a.nodes + b.nodes, a.inner + b.inner, a.depth > b.depth ? a.depth : b.depth};
  }
  bool operator==(const counts&) const = default;
};
inline constexpr counts root_alone{.nodes = 1};

// Returns why the tree cannot be searched (it would certainly be infinite), or nothing.
std::string_view why_unsearchable(const parameters& p);

class tree {
 public:
  explicit tree(const parameters& p, sha1_six_words_function sha1 = fastest_sha1());

  [[nodiscard]] const parameters& params() const { return params_; }
  [[nodiscard]] node root() const {
    return {sha1_portable(sha1_pad(0U, 0U, 0U, 0U, static_cast<std::uint32_t>(params_.seed))), 0};
  }
  [[nodiscard]] node child(const node& parent, int index) const {
    return {sha1_(parent.state, static_cast<std::uint32_t>(index)), parent.depth + 1};
  }
  [[nodiscard]] int num_children(const node& n) const;

  // No tree node is deeper; the largest int if the type of the tree sets no limit.
  [[nodiscard]] int depth_limit() const;

 private:
  [[nodiscard]] int binomial_children(const node& n) const;
  [[nodiscard]] int geometric_children(const node& n) const;
  [[nodiscard]] double log_continue(int depth) const;
  [[nodiscard]] double branching_at(int depth) const;

  parameters params_;
  sha1_six_words_function sha1_;
  std::vector<double> log_continue_;  // by depth: a logarithm costs as much as a quarter of a hash
};

// What the authors of the benchmark publish about a tree.
struct known_tree {
  std::string name;
  counts result;
};
// nullptr for a tree without published numbers.
const known_tree* find_known_tree(const parameters& p);

}  // namespace uts
