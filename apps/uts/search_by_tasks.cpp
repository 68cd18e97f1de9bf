// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <vector>

#include <apgas/apgas.hpp>

#include "support/stopwatch.hpp"
#include "uts/search.hpp"

namespace uts {
namespace {

class searcher {
 public:
  explicit searcher(const search_options& o) : tree_(o.make_tree()), granularity_(o.granularity) {}

  void spawn(const node& n) {
    if (granularity_ > 1) {
      apgas::async([n, this] { explore_some(n); });
    } else {
      apgas::async([n, this] { explore(n); });
    }
  }
  [[nodiscard]] node root() const { return tree_.root(); }
  [[nodiscard]] counts found() const { return found_.reduce(std::plus<>{}); }

 private:
  void explore(const node& n);
  void spawn_children(const node& n, int children);
  void explore_some(const node& n);

  tree tree_;
  int granularity_;
  apgas::worker_local<counts> found_;
};

// Inlined, so that the tree node stays where its task finds it.
[[gnu::always_inline]] inline void searcher::explore(const node& n) {
  const int children = tree_.num_children(n);
  if (children != 0) spawn_children(n, children);
}

// Not inlined, so that a leaf saves no registers for it.
[[gnu::noinline]] void searcher::spawn_children(const node& n, int children) {
  found_->add_children(n, children);
  for (int i = 0; i < children; ++i) {
    // The words are captured one by one. A copy of the whole node would read what has just been
    // stored by wider loads, which wait for the stores: as long as all the rest of the task takes.
    const node child = tree_.child(n, i);
    const auto [a, b, c, d, e] = child.state;
    apgas::async([this, a, b, c, d, e, depth = child.depth] { explore({{a, b, c, d, e}, depth}); });
  }
}

// Expands up to `granularity_` tree nodes in this task; the rest become tasks.
void searcher::explore_some(const node& n) {
  std::vector<node> pending = {n};
  counts found;
  for (int budget = granularity_; budget > 0 && !pending.empty(); --budget) {
    const node next = pending.back();
    pending.pop_back();
    const int children = tree_.num_children(next);
    found.add_children(next, children);
    for (int i = 0; i < children; ++i) pending.push_back(tree_.child(next, i));
  }
  *found_ = *found_ + found;
  for (const node& left : pending) spawn(left);
}

}  // namespace

search_result search_by_tasks(const search_options& o) {
  searcher here(o);
  search_result result;
  const apps::stopwatch clock;
  apgas::finish([&] { here.spawn(here.root()); });
  result.seconds = clock.seconds();
  result.total = root_alone + here.found();
  result.nodes_of_place = {result.total.nodes};
  result.bags = 1;
  return result;
}

}  // namespace uts
