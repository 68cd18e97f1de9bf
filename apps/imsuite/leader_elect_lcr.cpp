// SPDX-License-Identifier: Apache-2.0

// Leader election on a unidirectional ring (Le Lann; Chang and Roberts). Each node sends its id
// around the ring. A node stops ids that are smaller than those it knows, and the node that
// receives its own id is the leader. There is one round for each hop, n in all.

#include "imsuite/check.hpp"
#include "imsuite/solve.hpp"
#include "imsuite/solve_over_places.hpp"

namespace imsuite {
namespace {

template <class Sync>
class chang_roberts {
 public:
  chang_roberts(const input& in, Sync& sync) : sync_(sync), n_(in.nodes), nodes_(in.nodes) {
    for (const int i : sync.block(n_))
      nodes_[i] = {.id = in.ids[i], .leader = in.ids[i], .send = in.ids[i]};
  }

  void run() {
    for (int round = 0; round < n_; ++round) {
      sync_.round(
          n_, [this](int i) { send(i); }, advance_lazy, [this](int i) { compare(nodes_[i]); });
    }
    announce();
  }

  [[nodiscard]] solution found() const {
    solution s;
    for (const node& v : nodes_) s.of_node.push_back(v.leader);
    return s;
  }

 private:
  static constexpr int nothing = -1;  // smaller than any id

  struct node {
    int id;
    int leader;  // the largest id heard of
    int send;
    int received = nothing;  // written only by the left neighbour
    bool elected = false;
  };

  void send(int i) {
    const auto receive = [](node& w, int id) { w.received = id; };
    sync_.tell(nodes_, i + 1 == n_ ? 0 : i + 1, receive, nodes_[i].send);
  }

  static void compare(node& v) {
    v.send = nothing;
    if (v.received > v.leader) {
      v.leader = v.send = v.received;
    } else if (v.received == v.id) {
      v.elected = true;
    }
  }

  // The leader's message travels around the ring once more.
  void announce() {
    int elected = 0;
    for (const node& v : sync_.own(nodes_)) elected += v.elected ? v.id : 0;  // exactly one node is
    const int leader = sync_.total(elected);
    for (node& v : sync_.own(nodes_)) v.leader = leader;
  }

  Sync& sync_;
  int n_;
  per_node<node> nodes_;
};

}  // namespace

const kernel leader_elect_lcr = {.name = "leader_elect_lcr",
                                 .short_name = "LCR",
                                 .sections = {section::ids},
                                 .usual_nodes = 512,
                                 .most_nodes = 32768,
                                 .solve = solve<chang_roberts>,
                                 .solve_over_places = solve_over_places<chang_roberts>,
                                 .check = check_leader};

}  // namespace imsuite
