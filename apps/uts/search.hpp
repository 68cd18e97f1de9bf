// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parallel searches. Within a place, each child is a task, all under one finish, and the
// scheduler balances the workers. Over several places, glb balances bags of tree nodes.

#include <cstdint>
#include <vector>

#include <apgas/glb.hpp>

#include "uts/tree.hpp"

namespace uts {

// The settings that all places need. Sent as bytes.
struct search_options {
  parameters tree;
  int granularity = 1;    // tree nodes that a task expands by itself
  bool portable = false;  // do not use the processor's SHA instructions

  [[nodiscard]] uts::tree make_tree() const {
    return uts::tree(tree, portable ? sha1_six_words : fastest_sha1());
  }
};

struct search_result {
  counts total;
  std::vector<std::uint64_t> nodes_of_place;
  std::uint64_t bags = 0;  // bags that places received from other places
  double seconds = 0;
  std::vector<apgas::glb_statistics> balancing;  // of a search by bags, for each place
};

// search_by_tasks.cpp. Uses the workers of this place. Context: a task; may suspend.
search_result search_by_tasks(const search_options& o);

// search_by_bags.cpp. Uses all places. Context: a task; may suspend.
search_result search_by_bags(const search_options& o);

}  // namespace uts
