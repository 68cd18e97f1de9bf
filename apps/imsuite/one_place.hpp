// SPDX-License-Identifier: Apache-2.0
#pragma once

// The part of a policy that concerns the location of nodes, for a single place with all nodes.

#include <ranges>

#include "imsuite/graph.hpp"
#include "imsuite/steps.hpp"

namespace imsuite {

class at_one_place : public round_counts {
 public:
  static auto block(int nodes) { return std::views::iota(0, nodes); }
  template <class T>
  static per_node<T>& own(per_node<T>& nodes) {
    return nodes;
  }

  template <class T, class F, class... Args>
  static void tell(per_node<T>& nodes, int node, F f, const Args&... args) {
    f(nodes[node], args...);
  }
  template <class T, class M>
  static void show(per_node<T>&, int, M T::*) {}

  static int total(int mine) { return mine; }
  static int known_to(int, int value) { return value; }
};

}  // namespace imsuite
