// SPDX-License-Identifier: Apache-2.0
#pragma once

// What several kernels' checkers have in common.

#include <string>

#include "imsuite/kernel.hpp"

namespace imsuite {

inline std::string node_name(int node) { return "node " + std::to_string(node); }

// There is one number for each node.
complaint check_size(const input& in, const solution& s);

// Every node knows the largest id.
complaint check_leader(const input& in, const solution& s);

// The numbers are parents, the root's is itself, and the children's lists say the same. That there
// is no circle is left to the caller.
complaint check_tree(const input& in, const solution& s, int root);

// The same, and it is all one tree that weighs as little as possible.
complaint check_spanning_tree(const input& in, const solution& s);

// The numbers are 0 and 1, and every node is 1 or has a neighbour that is.
complaint check_dominated(const input& in, const solution& s);

}  // namespace imsuite
