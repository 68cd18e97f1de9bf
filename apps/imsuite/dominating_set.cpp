// SPDX-License-Identifier: Apache-2.0

// A small dominating set, by a randomised algorithm (Jia, Rajaraman and Suel). A node is white
// until it or a neighbour is in the set. The nodes that cover the most white nodes within two hops
// are active. An active node becomes a candidate with a probability that decreases with the number
// of active nodes around its white nodes, and it is chosen if few other candidates cover these. The
// task of a node ends when the node has no white node left to cover: the tasks leave the clock at
// different times while the others continue.

#include <algorithm>
#include <bit>
#include <cstdint>

#include <apgas/base/random.hpp>

#include "imsuite/check.hpp"
#include "imsuite/solve.hpp"
#include "imsuite/solve_over_places.hpp"

namespace imsuite {
namespace {

using apgas::base::random_engine;

template <class Sync>
class jia_rajaraman_suel {
 public:
  jia_rajaraman_suel(const input& in, Sync& sync)
      : sync_(sync), links_(in.links), nodes_(in.nodes) {
    for (int i = 0; i < in.nodes; ++i) {
      nodes_[i].random = random_engine(static_cast<std::uint64_t>(i));
      nodes_[i].white_around = static_cast<int>(links_.neighbours(i).size()) + 1;
    }
  }

  void run() {
    sync_.rounds_while(
        nodes_.size(), [this](int i) { return nodes_[i].white_around > 0; },  //
        [this](int i) { round_span(i); }, advance_lazy,                       //
        [this](int i) { compare_spans(i); }, advance_lazy,                    //
        [this](int i) { set(i, &node::support, count(i, &node::active)); }, advance_lazy,
        [this](int i) { stand(i); }, advance_lazy,
        [this](int i) { set(i, &node::candidates, count(i, &node::candidate)); }, advance_lazy,
        [this](int i) { choose(i); }, advance_lazy,  //
        [this](int i) { join(i); }, advance_lazy,    //
        [this](int i) { reset(i); }, advance_lazy, [this](int i) { look_around(i); });
  }

  [[nodiscard]] solution found() const {
    solution s;
    for (const node& v : nodes_) s.of_node.push_back(v.in_the_set ? 1 : 0);
    return s;
  }

 private:
  // Fields that other nodes read are changed by set(), which shows them to all places. A node that
  // leaves sets its fields such that it no longer takes part.
  struct node {
    int white_around;    // white nodes among itself and its neighbours
    int span = 0;        // white_around, rounded down to a power of two
    int support = 0;     // active nodes around it
    int candidates = 0;  // candidates around it
    int rival = -1;      // the largest neighbour that was chosen, too
    bool white = true;
    bool active = false;
    bool candidate = false;
    bool chosen = false;
    bool in_the_set = false;
    random_engine random{0};
  };

  template <class T>
  void set(int i, T node::* member, T value) {
    nodes_[i].*member = value;
    sync_.show(nodes_, i, member);
  }

  // Calls f for node i and for each of its neighbours.
  template <class F>
  void around(int i, F f) const {
    f(nodes_[i]);
    for (const int neighbour : links_.neighbours(i)) f(nodes_[neighbour]);
  }
  int count(int i, bool node::* property) const {
    int sum = 0;
    around(i, [&](const node& w) { sum += w.*property ? 1 : 0; });
    return sum;
  }

  void round_span(int i) {
    const auto around = static_cast<unsigned>(nodes_[i].white_around);
    set(i, &node::span, static_cast<int>(std::bit_floor(around)));
  }

  void compare_spans(int i) {
    int widest = 0;
    const auto compare = [&widest](const node& w) { widest = std::max(widest, w.span); };
    around(i, compare);
    for (const int neighbour : links_.neighbours(i)) around(neighbour, compare);
    set(i, &node::active, nodes_[i].span == widest);
  }

  void stand(int i) {
    node& v = nodes_[i];
    if (!v.active) return;
    int most = 1;
    around(i, [&most](const node& w) {
      if (w.white) most = std::max(most, w.support);
    });
    set(i, &node::candidate, v.random.real() * most < 1);
  }

  void choose(int i) {
    node& v = nodes_[i];
    if (!v.candidate) return;
    int sum = 0;
    around(i, [&sum](const node& w) { sum += w.white ? w.candidates : 0; });
    v.chosen = sum <= 3 * v.white_around;
    if (!v.chosen) return;
    const auto compete = [](node& w, int rival) { w.rival = std::max(w.rival, rival); };
    for (const int neighbour : links_.neighbours(i)) {
      sync_.atomic([&] { sync_.tell(nodes_, neighbour, compete, i); });
    }
  }

  void join(int i) {
    node& v = nodes_[i];
    if (!v.chosen || v.rival > i) return;
    v.in_the_set = true;
    const auto cover = [](node& w) { w.white = false; };
    sync_.atomic([&] { cover(v); });
    for (const int neighbour : links_.neighbours(i)) {
      sync_.atomic([&] { sync_.tell(nodes_, neighbour, cover); });
    }
  }

  void reset(int i) {
    set(i, &node::active, false);
    set(i, &node::candidate, false);
    nodes_[i].chosen = false;
    nodes_[i].rival = -1;
    sync_.show(nodes_, i, &node::white);  // other nodes may have set it
  }

  void look_around(int i) {
    nodes_[i].white_around = count(i, &node::white);
    if (nodes_[i].white_around == 0) set(i, &node::span, 0);
  }

  Sync& sync_;
  const graph& links_;
  per_node<node> nodes_;
};

}  // namespace

const kernel dominating_set = {.name = "dominating_set",
                               .short_name = "DS",
                               .sections = {section::links},
                               .usual_nodes = 128,
                               .most_nodes = 32768,
                               .solve = solve<jia_rajaraman_suel>,
                               .solve_over_places = solve_over_places<jia_rajaraman_suel>,
                               .check = check_dominated};

}  // namespace imsuite
