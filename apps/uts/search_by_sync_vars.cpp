// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <memory>

#include <apgas/apgas.hpp>

#include "support/stopwatch.hpp"
#include "uts/search_recursively.hpp"

namespace uts {
namespace {

using result_of_child = apgas::sync_var<counts>;

// Counts the nodes below `n`, and n as an inner node.
counts explore(const tree& t, const node& n) {
  counts found;
  const int children = t.num_children(n);
  if (children == 0) return found;
  found.add_children(n, children);
  const auto size = static_cast<std::size_t>(children);
  const auto results = std::make_unique<result_of_child[]>(size);
  for (int i = 0; i < children; ++i) {
    result_of_child& result = results[static_cast<std::size_t>(i)];
    apgas::begin([&t, &result, child = t.child(n, i)] { result.write_ef(explore(t, child)); });
  }
  // The child that was begun last is the first that this worker runs.
  for (std::size_t i = size; i-- > 0;) found = found + results[i].read_fe();
  return found;
}

}  // namespace

search_result search_by_sync_vars(const search_options& o) {
  const tree t = o.make_tree();
  search_result result;
  const apps::stopwatch clock;
  result.total = root_alone + explore(t, t.root());
  result.seconds = clock.seconds();
  result.nodes_of_place = {result.total.nodes};
  result.bags = 1;
  return result;
}

}  // namespace uts
