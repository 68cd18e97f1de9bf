// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include "support/command_line.hpp"
#include "uts/tree.hpp"

namespace uts {

// The official flags, with which a tree is chosen. Declares them at construction; chosen() is for
// after the parsing of the command line.
class tree_flags {
 public:
  explicit tree_flags(apps::command_line& line) {
    constexpr int any = std::numeric_limits<int>::max();
    line.option("-t", type_, 0, 3, "type: 0 binomial, 1 geometric, 2 hybrid, 3 balanced");
    line.option("-b", tree_.root_branching, 0, 1e9, "branching factor of the root");
    line.option("-r", tree_.seed, 0, any, "seed of the root");
    line.option("-d", tree_.depth, 1, 1'000'000, "limit of depth (geometric, hybrid, balanced)");
    line.option("-a", shape_, 0, 3, "shape: 0 linear, 1 exponential, 2 cyclic, 3 fixed");
    line.option("-m", tree_.non_leaf_branching, 0, any, "children of an inner node (binomial)");
    line.option("-q", tree_.non_leaf_probability, 0, 1, "probability of an inner node (binomial)");
    line.option("-f", tree_.shift_depth, 0, 1, "geometric down to this fraction of -d (hybrid)");
  }
  tree_flags(const tree_flags&) = delete;
  tree_flags& operator=(const tree_flags&) = delete;

  [[nodiscard]] parameters chosen() const {
    parameters tree = tree_;
    tree.type = static_cast<tree_type>(type_);
    tree.shape = static_cast<tree_shape>(shape_);
    return tree;
  }

 private:
  parameters tree_;
  int type_ = static_cast<int>(tree_.type);
  int shape_ = static_cast<int>(tree_.shape);
};

}  // namespace uts
