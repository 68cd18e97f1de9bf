// SPDX-License-Identifier: Apache-2.0

// Leader election on a bidirectional ring (Hirschberg and Sinclair). In stage p each candidate
// sends a probe 2^p hops in both directions. A node stops probes that are smaller than its own id.
// At the end of its path a probe turns into a reply. A node that receives both replies remains a
// candidate. All candidates begin a stage together, so a link carries one message at a time.

#include <array>
#include <bit>

#include "imsuite/check.hpp"
#include "imsuite/solve.hpp"
#include "imsuite/solve_over_places.hpp"

namespace imsuite {
namespace {

template <class Sync>
class hirschberg_sinclair {
 public:
  hirschberg_sinclair(const input& in, Sync& sync) : sync_(sync), n_(in.nodes), nodes_(in.nodes) {
    for (const int i : sync.block(n_)) nodes_[i].id = nodes_[i].leader = in.ids[i];
  }

  void run() {
    const int stages = static_cast<int>(std::bit_width(static_cast<unsigned>(n_ - 1)));
    for (int stage = 0; stage < stages; ++stage) {
      const int reach = 1 << stage;
      sync_.each(n_, [this, reach](int i) { send_probes(nodes_[i], reach); });
      for (int hop = 0; hop < 2 * reach; ++hop) {
        sync_.round(
            n_, [this](int i) { process(nodes_[i]); }, advance_lazy, [this](int i) { send(i); },
            advance_lazy, [this](int i) { take_replies(nodes_[i]); });
      }
    }
    announce();
  }

  [[nodiscard]] solution found() const {
    solution s;
    for (const node& v : nodes_) s.of_node.push_back(v.leader);
    return s;
  }

 private:
  struct message {
    int id = 0;
    int hops = 0;  // remaining hops; 0 for a reply
    enum { none, probe, reply } kind = none;
  };
  // Slot 0 is for messages that travel up the ring, slot 1 for those that travel down. A slot has
  // one writer: the node itself, or the neighbour that the messages come from.
  struct node {
    int id;
    int leader;
    int replies = 2;  // in the previous stage; initially all nodes are candidates
    std::array<message, 2> received;
    std::array<message, 2> sent;
  };

  static void send_probes(node& v, int reach) {
    if (v.replies < 2) return;
    v.replies = 0;
    for (message& m : v.sent) m = {v.id, reach, message::probe};
  }

  static void process(node& v) {
    for (const std::size_t way : {0U, 1U}) {
      message& m = v.received[way];
      if (m.kind == message::reply) {
        v.sent[way] = m;
      } else if (m.kind == message::probe && m.id > v.id) {
        const bool turns = m.hops == 0;
        v.sent[turns ? 1 - way : way] = {m.id, m.hops, turns ? message::reply : message::probe};
      }
      m.kind = message::none;
    }
  }

  void send(int i) {
    node& v = nodes_[i];
    for (message& m : v.sent) --m.hops;
    const auto receive = [](node& w, std::size_t way, const message& m) { w.received[way] = m; };
    sync_.tell(nodes_, i + 1 == n_ ? 0 : i + 1, receive, std::size_t{0}, v.sent[0]);
    sync_.tell(nodes_, i == 0 ? n_ - 1 : i - 1, receive, std::size_t{1}, v.sent[1]);
  }

  static void take_replies(node& v) {
    for (message& m : v.sent) m.kind = message::none;
    for (message& m : v.received) {
      if (m.kind != message::reply || m.id != v.id) continue;
      ++v.replies;
      m.kind = message::none;
    }
  }

  // The last candidate's message travels around the ring.
  void announce() {
    int elected = 0;
    // Exactly one node has both.
    for (const node& v : sync_.own(nodes_)) elected += v.replies == 2 ? v.id : 0;
    const int leader = sync_.total(elected);
    for (node& v : sync_.own(nodes_)) v.leader = leader;
  }

  Sync& sync_;
  int n_;
  per_node<node> nodes_;
};

}  // namespace

const kernel leader_elect_hs = {.name = "leader_elect_hs",
                                .short_name = "HS",
                                .sections = {section::ids},
                                .usual_nodes = 512,
                                .most_nodes = 32768,
                                .solve = solve<hirschberg_sinclair>,
                                .solve_over_places = solve_over_places<hirschberg_sinclair>,
                                .check = check_leader};

}  // namespace imsuite
