// SPDX-License-Identifier: Apache-2.0

// Byzantine agreement with a common coin (Rabin; ByzGen of Motwani and Raghavan). In each of n/8 +
// 1 iterations all votes are flooded through the network. A node adopts the majority's vote if the
// number of these votes reaches a threshold, which the coin chooses. Fewer than an eighth of the
// nodes are traitors, which vote at random.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <apgas/base/random.hpp>

#include "imsuite/check.hpp"
#include "imsuite/solve.hpp"
#include "imsuite/solve_over_places.hpp"

namespace imsuite {
namespace {

using apgas::base::random_engine;

template <class Sync>
class agreement {
 public:
  agreement(const input& in, Sync& sync)
      : sync_(sync), links_(in.links), diameter_(diameter(in.links)), nodes_(in.nodes) {
    for (const int i : sync.block(in.nodes)) {
      node& v = nodes_[i];
      v.vote = in.votes[i];
      v.random = random_engine(static_cast<std::uint64_t>(i));
      v.heard = per_node<std::int8_t>(in.nodes, unheard);
    }
    for (const int traitor : in.traitors) nodes_[traitor].traitor = true;
  }

  void run() {
    const int n = nodes_.size();
    random_engine coin(100);
    const int iterations = std::max(n / 8, 1) + 1;
    for (int iteration = 0; iteration < iterations; ++iteration) {
      sync_.each(n, [this](int i) { cast_vote(i); });
      for (int hop = 0; hop < diameter_; ++hop) {
        sync_.round(
            n, [this](int i) { pass_on(i); }, advance_lazy, [this](int i) { merge(nodes_[i]); });
      }
      const int threshold = coin.below(2) == 0 ? 5 * n / 8 + 1 : 3 * n / 4 + 1;
      sync_.each(n, [=, this](int i) { decide(nodes_[i], threshold); });
    }
  }

  [[nodiscard]] solution found() const {
    solution s;
    for (const node& v : nodes_) s.of_node.push_back(v.decision);
    return s;
  }

 private:
  static constexpr std::int8_t unheard = -1;
  static constexpr int undecided = -1;

  struct ballot {
    int voter;
    int vote;
  };
  struct node {
    int vote = 0;
    int decision = undecided;
    bool traitor = false;
    random_engine random{0};
    per_node<std::int8_t> heard;  // the vote of each node
    std::vector<ballot> fresh;    // not yet passed on
    std::vector<ballot> received;
  };

  void cast_vote(int i) {
    node& v = nodes_[i];
    if (v.traitor) v.vote = static_cast<int>(v.random.below(2));
    v.heard[i] = static_cast<std::int8_t>(v.vote);
    v.fresh.assign(1, {i, v.vote});
  }

  void pass_on(int i) {
    const std::span<const ballot> fresh = nodes_[i].fresh;
    if (fresh.empty()) return;
    const auto receive = [](node& w, std::span<const ballot> ballots) {
      w.received.insert(w.received.end(), ballots.begin(), ballots.end());
    };
    for (const int neighbour : links_.neighbours(i)) {
      sync_.atomic([&] { sync_.tell(nodes_, neighbour, receive, fresh); });
    }
  }

  static void merge(node& v) {
    v.fresh.clear();
    for (const ballot& b : v.received) {
      if (v.heard[b.voter] != unheard) continue;
      v.heard[b.voter] = static_cast<std::int8_t>(b.vote);
      v.fresh.push_back(b);
    }
    v.received.clear();
  }

  static void decide(node& v, int threshold) {
    int ayes = 0;
    for (std::int8_t& vote : v.heard) {
      ayes += vote == 1 ? 1 : 0;
      vote = unheard;
    }
    const int n = v.heard.size();
    const int majority = 2 * ayes > n ? 1 : 0;
    const int count = majority == 1 ? ayes : n - ayes;
    v.vote = count >= threshold ? majority : 0;
    if (8 * count >= 7 * n) v.decision = majority;
  }

  Sync& sync_;
  const graph& links_;
  int diameter_;
  per_node<node> nodes_;
};

complaint check_agreement(const input& in, const solution& s) {
  if (complaint c = check_size(in, s)) return c;
  per_node<char> traitor(in.nodes, 0);
  for (const int node : in.traitors) traitor[node] = 1;
  int first = 0;
  while (traitor[first] != 0) ++first;
  const int decision = s.of_node[first];
  int dissent = 0;  // loyal nodes whose first vote was not the decision
  for (int node = 0; node < in.nodes; ++node) {
    if (traitor[node] != 0) continue;
    if (s.of_node[node] != 0 && s.of_node[node] != 1) return node_name(node) + " is undecided";
    if (s.of_node[node] != decision) return node_name(node) + " decided otherwise";
    dissent += in.votes[node] == decision ? 0 : 1;
  }
  if (dissent + static_cast<int>(in.traitors.size()) == in.nodes) {
    return "the decision is one that no loyal node voted for";
  }
  return {};
}

}  // namespace

// A node keeps a vote of every other node.
const kernel byzantine = {.name = "byzantine",
                          .short_name = "BY",
                          .sections = {section::connected_links, section::separator, section::votes,
                                       section::separator, section::traitors},
                          .usual_nodes = 128,
                          .most_nodes = 4096,
                          .solve = solve<agreement>,
                          .solve_over_places = solve_over_places<agreement>,
                          .check = check_agreement};

}  // namespace imsuite
