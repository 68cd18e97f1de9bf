// SPDX-License-Identifier: Apache-2.0

// Committees of at most K members. In each of K iterations the nodes poll for the smallest id
// within K - 1 hops that has no committee yet. A node whose own id this is becomes the head of a
// committee. Every head invites the node it found, and a node accepts the invitation of the
// smallest head. So each committee grows by at most one node at a time. A node that no head invites
// ends up alone.

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "imsuite/check.hpp"
#include "imsuite/solve.hpp"
#include "imsuite/solve_over_places.hpp"

namespace imsuite {
namespace {

template <class Sync>
class committees {
 public:
  committees(const input& in, Sync& sync)
      : sync_(sync), links_(in.links), k_(in.committee_size), nodes_(in.nodes) {
    for (const int i : sync.block(in.nodes)) {
      nodes_[i].id = in.ids[i];
      nodes_[i].polled.reserve(links_.neighbours(i).size());
    }
  }

  void run() {
    for (int iteration = 0; iteration < k_; ++iteration) {
      poll();
      select();
    }
    sync_.each(nodes_.size(), [this](int i) {
      node& v = nodes_[i];
      if (v.committee == none) v.committee = v.id;
    });
  }

  [[nodiscard]] solution found() const {
    solution s;
    for (const node& v : nodes_) s.of_node.push_back(v.committee);
    return s;
  }

 private:
  static constexpr int none = std::numeric_limits<int>::max();

  struct invitation {
    int head;
    int invitee;
    auto operator<=>(const invitation&) const = default;
  };
  struct node {
    int id;
    int committee = none;  // the id of its head
    int smallest = none;   // the smallest id without a committee
    int accepted = none;   // the head whose invitation was accepted
    std::vector<int> polled;
    std::vector<invitation> received;
    std::vector<invitation> known;
    std::vector<invitation> fresh;  // known invitations that have not been passed on
  };

  void poll() {
    const int n = nodes_.size();
    sync_.each(n, [this](int i) {
      node& v = nodes_[i];
      v.smallest = v.committee == none ? v.id : none;
    });
    for (int hop = 1; hop < k_; ++hop) {
      sync_.round(
          n, [this](int i) { send_smallest(i); }, advance_lazy,
          [this](int i) {
            node& v = nodes_[i];
            for (const int id : v.polled) v.smallest = std::min(v.smallest, id);
            v.polled.clear();
          });
    }
  }

  void select() {
    const int n = nodes_.size();
    sync_.each(n, [this](int i) { invite(nodes_[i]); });
    for (int hop = 1; hop < k_; ++hop) {
      sync_.round(
          n, [this](int i) { pass_on(i); }, advance_lazy, [this](int i) { merge(nodes_[i]); },
          advance_lazy, [this](int i) { accept(nodes_[i]); });
    }
    sync_.each(n, [this](int i) {
      node& v = nodes_[i];
      if (v.committee == none) v.committee = v.accepted;
      v.accepted = none;
    });
  }

  void send_smallest(int i) {
    const auto hear = [](node& w, int smallest) { w.polled.push_back(smallest); };
    for (const int neighbour : links_.neighbours(i)) {
      sync_.atomic([&] { sync_.tell(nodes_, neighbour, hear, nodes_[i].smallest); });
    }
  }

  static void invite(node& v) {
    v.known.clear();
    v.fresh.clear();
    const bool head = v.smallest == v.id || v.committee == v.id;
    if (!head || v.smallest == none) return;
    v.fresh = v.known = {{v.id, v.smallest}};
    accept(v);
  }

  void pass_on(int i) {
    const std::span<const invitation> fresh = nodes_[i].fresh;
    if (fresh.empty()) return;
    const auto receive = [](node& w, std::span<const invitation> invitations) {
      w.received.insert(w.received.end(), invitations.begin(), invitations.end());
    };
    for (const int neighbour : links_.neighbours(i)) {
      sync_.atomic([&] { sync_.tell(nodes_, neighbour, receive, fresh); });
    }
  }

  // Each invitation arrives over several paths.
  static void merge(node& v) {
    std::ranges::sort(v.received);
    v.fresh.clear();
    std::ranges::unique_copy(v.received, std::back_inserter(v.fresh));
    std::erase_if(v.fresh, [&v](invitation i) { return std::ranges::binary_search(v.known, i); });
    const auto middle = v.known.insert(v.known.end(), v.fresh.begin(), v.fresh.end());
    std::ranges::inplace_merge(v.known, middle);
    v.received.clear();
  }

  static void accept(node& v) {
    for (const invitation& i : v.fresh) {
      if (i.invitee == v.id) v.accepted = std::min(v.accepted, i.head);
    }
  }

  Sync& sync_;
  const graph& links_;
  int k_;
  per_node<node> nodes_;
};

complaint check_committees(const input& in, const solution& s) {
  if (complaint c = check_size(in, s)) return c;
  std::map<int, int> node_of;
  std::map<int, std::vector<int>> members;
  for (int node = 0; node < in.nodes; ++node) {
    node_of[in.ids[node]] = node;
    members[s.of_node[node]].push_back(node);
  }
  for (const auto& [head, committee] : members) {
    const std::string name = "the committee of id " + std::to_string(head);
    if (!node_of.contains(head)) return name + " has a head that is no node";
    if (std::ranges::find(committee, node_of[head]) == committee.end()) {
      return name + " is without its head";
    }
    if (std::cmp_greater(committee.size(), in.committee_size)) return name + " is too large";
    if (committee.size() == 1) continue;
    const per_node<int> hops = distances(in.links, node_of[head]);
    for (const int node : committee) {
      if (hops[node] >= in.committee_size) {
        return node_name(node) + " is too far from the head of " + name;
      }
    }
  }
  // The first invitation from the smallest id is accepted, since no other id has precedence, if
  // there is a node to invite.
  const auto smallest = members.find(node_of.begin()->first);
  const bool can_grow = in.nodes > 1 && in.committee_size > 1;
  if (smallest == members.end() || (can_grow && smallest->second.size() < 2)) {
    return "the smallest id has no committee";
  }
  return {};
}

}  // namespace

const kernel kcommittee = {.name = "kcommittee",
                           .short_name = "KC",
                           .sections = {section::committee_size, section::connected_links,
                                        section::separator, section::ids},
                           .usual_nodes = 512,
                           .most_nodes = 32768,
                           .solve = solve<committees>,
                           .solve_over_places = solve_over_places<committees>,
                           .check = check_committees};

}  // namespace imsuite
