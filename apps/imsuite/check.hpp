// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks that several kernels share.

#include <string>

#include "imsuite/kernel.hpp"

namespace imsuite {

inline std::string node_name(int node) { return "node " + std::to_string(node); }

// There is one number for each node.
complaint check_size(const input& in, const solution& s);

// Every node knows the largest id.
complaint check_leader(const input& in, const solution& s);

// The numbers are parents (the root is its own parent), and the lists of children agree with them.
// The caller must check that there is no cycle.
complaint check_tree(const input& in, const solution& s, int root);

// The same, and the parents form a single tree of minimum weight.
complaint check_spanning_tree(const input& in, const solution& s);

// The numbers are 0 and 1, and every node has the number 1 or a neighbour with the number 1.
complaint check_dominated(const input& in, const solution& s);

}  // namespace imsuite
