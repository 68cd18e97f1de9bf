// SPDX-License-Identifier: Apache-2.0

// Leader election in any network (Peleg, 1990), in a time of the order of its diameter. A node
// keeps the largest id it has heard of, and the largest distance from that id's owner at which the
// id is known. At the owner this distance grows in every second round until all nodes know the id.
// When it has not grown for two rounds, the owner is the leader and tells all nodes to end.

#include <algorithm>

#include "imsuite/check.hpp"
#include "imsuite/solve.hpp"
#include "imsuite/solve_over_places.hpp"

namespace imsuite {
namespace {

template <class Sync>
class peleg {
 public:
  peleg(const input& in, Sync& sync) : sync_(sync), links_(in.links), nodes_(in.nodes) {
    for (const int i : sync.block(in.nodes)) {
      node& v = nodes_[i];
      v.id = v.leader = in.ids[i];
      v.complete = in.nodes == 1;
      v.inbox.reserve(2 * links_.neighbours(i).size());
    }
  }

  void run() {
    while (sync_.total(std::ranges::all_of(sync_.own(nodes_), &node::complete) ? 0 : 1) > 0) {
      sync_.round(
          nodes_.size(), [this](int i) { take_in(nodes_[i]); }, advance_eager,
          [this](int i) { send(i, {nodes_[i].leader, nodes_[i].farthest, nodes_[i].hops}); },
          advance_lazy, [this](int i) { compare(nodes_[i]); }, advance_lazy,
          [this](int i) {
            if (nodes_[i].complete) send(i, {nodes_[i].leader, the_end, 0});
          });
    }
  }

  [[nodiscard]] solution found() const {
    solution s;
    for (const node& v : nodes_) s.of_node.push_back(v.leader);
    return s;
  }

 private:
  static constexpr int the_end = -1;

  struct message {
    int leader;
    int farthest;  // the_end stops the algorithm
    int hops;      // from the leader to the sender
  };
  struct node {
    int id;
    int leader;
    int hops = 0;
    int farthest = 0;   // the largest known distance from the leader
    int unchanged = 0;  // rounds without a change of farthest
    bool complete = false;
    std::vector<message> inbox;
  };

  // Evaluates the messages of the previous round from nodes with the same leader.
  static void take_in(node& v) {
    if (v.inbox.empty()) return;
    int farthest = v.farthest;
    for (const message& m : v.inbox) {
      if (m.leader != v.leader) continue;
      if (m.farthest == the_end) v.complete = true;
      farthest = std::max(farthest, m.farthest);
    }
    v.unchanged = farthest == v.farthest ? v.unchanged + 1 : 0;
    v.farthest = farthest;
    if (v.leader == v.id && v.unchanged >= 2) v.complete = true;
    v.inbox.clear();
  }

  void send(int i, const message& m) {
    const auto receive = [](node& w, const message& sent) { w.inbox.push_back(sent); };
    for (const int neighbour : links_.neighbours(i)) {
      sync_.atomic([&] { sync_.tell(nodes_, neighbour, receive, m); });
    }
  }

  // Follows a larger leader, and forgets messages about smaller ones.
  static void compare(node& v) {
    for (const message& m : v.inbox) {
      if (m.leader <= v.leader) continue;
      v.leader = m.leader;
      v.hops = v.farthest = m.hops + 1;
      v.unchanged = 0;
    }
    std::erase_if(v.inbox, [&v](const message& m) { return m.leader < v.leader; });
  }

  Sync& sync_;
  const graph& links_;
  per_node<node> nodes_;
};

}  // namespace

const kernel leader_elect_dp = {
    .name = "leader_elect_dp",
    .short_name = "DP",
    .sections = {section::connected_links, section::separator, section::ids},
    .usual_nodes = 512,
    .most_nodes = 32768,
    .solve = solve<peleg>,
    .solve_over_places = solve_over_places<peleg>,
    .check = check_leader};

}  // namespace imsuite
