// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "uts/tree.hpp"

namespace uts {
namespace {

constexpr int max_children = 100;        // of every tree node except a binomial root
constexpr std::size_t table_size = 512;  // depths with a tabulated logarithm

// The random number of a tree node, uniform in [0, 1).
double uniform(const node& n) { return (n.state[4] & 0x7fffffffU) / 2147483648.0; }

bool is_geometric(const parameters& p, const node& n) {
  return p.type == tree_type::geometric ||
         (p.type == tree_type::hybrid && n.depth < p.shift_depth * p.depth);
}

}  // namespace

std::string_view why_unsearchable(const parameters& p) {
  const bool ends_binomial = p.type == tree_type::binomial || p.type == tree_type::hybrid;
  // It is not an error if -m times -q exceeds 1: the published tree T3L exceeds it slightly, and
  // ends.
  if (ends_binomial && p.non_leaf_probability >= 1 && p.non_leaf_branching > 0) {
    return "the tree would be infinite: with -q 1 every node has children";
  }
  const bool has_shape = p.type == tree_type::geometric || p.type == tree_type::hybrid;
  if (has_shape && p.shape == tree_shape::exponential && (p.root_branching < 1 || p.depth < 2)) {
    return "-a 1 (exponential) needs -b of at least 1 and -d of at least 2";
  }
  return {};
}

tree::tree(const parameters& p, sha1_six_words_function sha1) : params_(p), sha1_(sha1) {
  if (p.type != tree_type::geometric && p.type != tree_type::hybrid) return;
  std::vector<double> table(table_size);
  for (std::size_t depth = 0; depth < table.size(); ++depth) {
    table[depth] = log_continue(static_cast<int>(depth));
  }
  log_continue_ = std::move(table);
}

int tree::num_children(const node& n) const {
  if (is_geometric(params_, n)) return std::min(geometric_children(n), max_children);
  if (params_.type == tree_type::balanced) {
    return n.depth < params_.depth ? static_cast<int>(params_.root_branching) : 0;
  }
  if (params_.type == tree_type::binomial && n.depth == 0) {
    return static_cast<int>(std::floor(params_.root_branching));
  }
  return std::min(binomial_children(n), max_children);
}

int tree::depth_limit() const {
  constexpr int none = std::numeric_limits<int>::max();
  if (params_.type == tree_type::balanced) return params_.depth;
  if (params_.type != tree_type::geometric || params_.shape == tree_shape::exponential) return none;
  // A cyclic tree oscillates for five periods and may grow one level more.
  return params_.shape == tree_shape::cyclic ? 5 * params_.depth + 1 : params_.depth;
}

int tree::binomial_children(const node& n) const {
  return uniform(n) < params_.non_leaf_probability ? params_.non_leaf_branching : 0;
}

// The inverse of the geometric distribution whose mean is the branching factor at this depth.
int tree::geometric_children(const node& n) const {
  const double children = std::floor(std::log(1 - uniform(n)) / log_continue(n.depth));
  return static_cast<int>(std::min(children, static_cast<double>(max_children)));
}

double tree::log_continue(int depth) const {
  const auto i = static_cast<std::size_t>(depth);
  if (i < log_continue_.size()) return log_continue_[i];
  return std::log(1 - 1 / (1 + branching_at(depth)));
}

double tree::branching_at(int depth) const {
  const double root = params_.root_branching;
  const double limit = params_.depth;
  if (depth == 0 || root == 0) return root;
  switch (params_.shape) {
    case tree_shape::exponential:
      return root * std::pow(depth, -std::log(root) / std::log(limit));
    case tree_shape::cyclic:
      if (depth > 5 * params_.depth) return 0;
      return std::pow(root, std::sin(2.0 * std::numbers::pi * depth / limit));
    case tree_shape::fixed:
      return depth < params_.depth ? root : 0;
    case tree_shape::linear:
      break;
  }
  // Below the limit no tree node has children, so a negative mean is never used.
  return std::max(0.0, root * (1.0 - depth / limit));
}

const known_tree* find_known_tree(const parameters& p) {
  using enum tree_type;
  using enum tree_shape;
  struct entry {
    parameters params;
    known_tree tree;
  };
  const auto published = [](const char* name, std::uint64_t nodes, std::uint64_t leaves,
                            int depth) { return known_tree{name, {nodes, nodes - leaves, depth}}; };
  static const std::vector<entry> table = {
      {{geometric, 4, 19, fixed, 10}, published("T1", 4130071, 3305118, 10)},
      {{geometric, 6, 502, cyclic, 16}, published("T2", 4117769, 2342762, 81)},
      {{binomial, 2000, 42, linear, 6, 8, 0.124875}, published("T3", 4112897, 3599034, 1572)},
      {{hybrid, 6, 1, linear, 16, 4, 0.234375}, published("T4", 4132453, 3108986, 134)},
      {{geometric, 4, 34, linear, 20}, published("T5", 4147582, 2181318, 20)},
      {{geometric, 4, 29, fixed, 13}, published("T1L", 102181082, 81746377, 13)},
      {{geometric, 7, 220, cyclic, 23}, published("T2L", 96793510, 53791152, 67)},
      {{binomial, 2000, 7, linear, 6, 5, 0.200014}, published("T3L", 111345631, 89076904, 17844)},
      {{geometric, 4, 29, fixed, 15}, published("T1XL", 1635119272, 1308100063, 15)},
  };
  const auto found = std::ranges::find(table, p, &entry::params);
  return found == table.end() ? nullptr : &found->tree;
}

}  // namespace uts
