// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parallel searches. Within a place: a task per child, all under one finish; the scheduler
// balances the workers. Across places: glb over bags of nodes.

#include <cstdint>
#include <vector>

#include <apgas/glb.hpp>

#include "uts/tree.hpp"

namespace uts {

// What all places have to know. Travels as bytes.
struct search_options {
  parameters tree;
  int granularity = 1;    // nodes that a task expands by itself
  bool portable = false;  // without the processor's SHA instructions

  [[nodiscard]] uts::tree make_tree() const {
    return uts::tree(tree, portable ? sha1_six_words : fastest_sha1());
  }
};

struct search_result {
  counts total;
  std::vector<std::uint64_t> nodes_of_place;
  std::uint64_t bags = 0;  // pieces of work that places got
  double seconds = 0;
  std::vector<apgas::glb_statistics> balancing;  // by place, of the search by bags
};

// search_by_tasks.cpp. Uses the workers of this place. Context: a task; may suspend.
search_result search_by_tasks(const search_options& o);

// search_by_bags.cpp. Uses all places. Context: a task; may suspend.
search_result search_by_bags(const search_options& o);

}  // namespace uts
