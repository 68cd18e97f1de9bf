// SPDX-License-Identifier: Apache-2.0

// Maximal independent set (Luby). In each round every live node draws a number. A node whose number
// is smaller than those of its live neighbours joins the set; it and its neighbours then leave the
// network.

#include <algorithm>
#include <cstdint>
#include <utility>

#include <apgas/base/random.hpp>

#include "imsuite/check.hpp"
#include "imsuite/solve.hpp"
#include "imsuite/solve_over_places.hpp"

namespace imsuite {
namespace {

using apgas::base::random_engine;

template <class Sync>
class luby {
 public:
  luby(const input& in, Sync& sync) : sync_(sync), nodes_(in.nodes) {
    for (const int i : sync.block(in.nodes)) {
      const auto neighbours = in.links.neighbours(i);
      node& v = nodes_[i];
      v.random = random_engine(static_cast<std::uint64_t>(i));
      v.neighbours.assign(neighbours.begin(), neighbours.end());
      v.draws.reserve(neighbours.size());
    }
  }

  void run() {
    const auto linked = [](const node& v) { return !v.neighbours.empty(); };
    do {
      sync_.round(
          nodes_.size(), [this](int i) { draw(i); }, advance_eager, [this](int i) { join(i); },
          advance_eager, [this](int i) { leave(i); }, advance_eager,
          [this](int i) { apply_deletions(nodes_[i]); }, resume_eager);
    } while (sync_.total(std::ranges::any_of(sync_.own(nodes_), linked) ? 1 : 0) > 0);
    // A node whose neighbours have all left because they were covered, and that was not covered
    // itself, joins the set.
    sync_.each(nodes_.size(), [this](int i) {
      if (nodes_[i].state == undecided) nodes_[i].state = in_the_set;
    });
  }

  [[nodiscard]] solution found() const {
    solution s;
    for (const node& v : nodes_) s.of_node.push_back(v.state == in_the_set ? 1 : 0);
    return s;
  }

 private:
  enum membership { undecided, in_the_set, outside };
  using lot = std::pair<std::uint64_t, int>;  // the number and its node, so that no two are equal

  struct node {
    membership state = undecided;
    bool covered = false;  // a neighbour has joined the set
    random_engine random{0};
    lot mine;
    std::vector<int> neighbours;  // those that are still in the network
    std::vector<lot> draws;       // the numbers of the neighbours
    std::vector<int> deletions;   // neighbours that leave
  };

  void draw(int i) {
    node& v = nodes_[i];
    if (v.state != undecided) return;
    v.mine = {v.random(), i};
    const auto compete = [](node& w, std::uint64_t number, int neighbour) {
      w.draws.emplace_back(number, neighbour);
    };
    for (const int neighbour : v.neighbours) {
      sync_.atomic([&] { sync_.tell(nodes_, neighbour, compete, v.mine.first, i); });
    }
  }

  void join(int i) {
    node& v = nodes_[i];
    if (v.state != undecided) return;
    if (!v.draws.empty() && std::ranges::min(v.draws) < v.mine) return;
    v.state = in_the_set;
    const auto cover = [](node& w) { w.covered = true; };
    for (const int neighbour : v.neighbours) {
      sync_.atomic([&] { sync_.tell(nodes_, neighbour, cover); });
    }
  }

  // A node whose neighbours are all covered, such as one in the set, need not announce that it
  // leaves.
  void leave(int i) {
    const node& v = nodes_[i];
    if (!v.covered) return;
    const auto lose = [](node& w, int gone) { w.deletions.push_back(gone); };
    for (const int neighbour : v.neighbours) {
      sync_.atomic([&] { sync_.tell(nodes_, neighbour, lose, i); });
    }
  }

  static void apply_deletions(node& v) {
    if (v.covered || v.state == in_the_set) {
      v.neighbours.clear();
    } else {
      std::ranges::sort(v.deletions);
      std::erase_if(v.neighbours,
                    [&v](int i) { return std::ranges::binary_search(v.deletions, i); });
    }
    if (v.covered) v.state = outside;
    v.draws.clear();
    v.deletions.clear();
  }

  Sync& sync_;
  per_node<node> nodes_;
};

complaint check_independent(const input& in, const solution& s) {
  if (complaint c = check_dominated(in, s)) return c;  // the set is maximal
  for (int node = 0; node < in.nodes; ++node) {
    if (s.of_node[node] == 0) continue;
    for (const int neighbour : in.links.neighbours(node)) {
      if (s.of_node[neighbour] == 1) {
        return node_name(node) + " and its neighbour " + node_name(neighbour) + " are in the set";
      }
    }
  }
  return {};
}

}  // namespace

const kernel mis = {.name = "mis",
                    .short_name = "MIS",
                    .sections = {section::links},
                    .usual_nodes = 512,
                    .most_nodes = 32768,
                    .solve = solve<luby>,
                    .solve_over_places = solve_over_places<luby>,
                    .check = check_independent};

}  // namespace imsuite
