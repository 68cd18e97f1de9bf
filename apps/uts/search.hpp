// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parallel search. Within a place there is a task per child, all under one finish; the
// scheduler balances the workers. Across places:
//
//   - Place 0 expands the root until there are many nodes and deals them out in turn.
//   - A place whose bag is finished asks its neighbours on the hypercube for work. A neighbour that
//   has
//     work gives half of a freshly expanded piece of its tree; one that has none remembers who
//     asked, and gives as soon as it has got work itself. So no place polls, and an idle place
//     costs nothing.
//   - The search is over when every task is: the one finish around it sees that. Who still waits
//   then
//     is only a name in a list.
//
// Only a relaxed load in each task tells the tasks of a place that somebody is waiting.

#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

#include <apgas/apgas.hpp>

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

class searcher;
using searchers = apgas::place_local<searcher>;
using bag = std::vector<node>;

// The part of a place in the search.
class searcher {
 public:
  explicit searcher(const search_options& o) : tree_(o.make_tree()), granularity_(o.granularity) {}

  // Searches the subtrees of these nodes, then asks for more.
  // Context: a task of the search's finish; may suspend.
  void search_bag(searchers all, const bag& nodes);

  // Takes nodes from the root on until `size` of them wait to be expanded, or none is left.
  bag expand(const node& from, std::size_t size);

  [[nodiscard]] node root() const { return tree_.root(); }

  struct account {
    counts found;
    std::uint64_t bags;
  };
  [[nodiscard]] account what_was_done() const;

 private:
  struct request {
    int thief;
    apgas::promise<bag> grant;
  };

  void explore(const node& n);
  void spawn_children(const node& n, int children);
  [[nodiscard]] bool count(const counts& found);
  void explore_some(const node& n);
  void spawn(const node& n);
  void share(const node& n);
  [[nodiscard]] bool wanted(const node& n) const;

  void serve(searchers all, int thief);
  void ask_neighbours(searchers all);

  tree tree_;
  int granularity_;
  bool several_places_ = apgas::num_places() > 1;
  apgas::worker_local<counts> found_;
  std::atomic<std::size_t> waiting_{0};  // requests_.size(), for the tasks to look at

  std::mutex mutex_;  // guards what follows; never held across a suspension point
  int bags_ = 0;      // being searched here now
  std::uint64_t bags_searched_ = 0;
  std::vector<request> requests_;  // of places that wait for us while we have work
  std::vector<int> starving_;      // places that asked while we had none
};

struct search_result {
  counts total;
  std::vector<std::uint64_t> nodes_of_place;
  std::uint64_t bags = 0;
  double seconds = 0;
};

// Context: a task at place 0; may suspend.
search_result search_in_parallel(const search_options& o);

}  // namespace uts
