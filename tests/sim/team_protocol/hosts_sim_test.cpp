// SPDX-License-Identifier: Apache-2.0
// The collectives of teams on several hosts that use bulletin boards within each run, for every
// number of members up to 33 and every root, with runs of random sizes. Each phase is simulated in
// random orders: boards within the runs, messages between them. The values are words, so that a
// result shows which members were combined and in which order.
#include <bit>
#include <string>

#include <gtest/gtest.h>

#include "sim_hosts.hpp"

namespace {

using namespace apgas::remote;
using namespace sim;

// ---- each collective; returns "" or an error ----------------------------------------------------

// The steps on the boards before and after the messages.
std::string combine_in_runs(const settings& s, team_words& words, std::size_t root) {
  return within_runs(s, fault::no_boards_before, words, words,
                     [&](const span_of& run, std::size_t i) {
                       const std::size_t head = head_of(run, root) - run.first;
                       return board_up_schedule(run.size(), i, head, s.elements, part, true);
                     });
}
std::string spread_in_runs(const settings& s, team_words& words, std::size_t root) {
  return within_runs(
      s, fault::no_boards_after, words, words, [&](const span_of& run, std::size_t i) {
        return board_broadcast_schedule(i, head_of(run, root) - run.first, s.elements, part);
      });
}

// In a barrier all members pass on what they have heard, whatever the ranges are.
struct heard : team_words {
  content sent(std::size_t member, const span_of&) { return (*this)[member]; }
  void received(std::size_t member, const exchange&, const content& theirs) {
    (*this)[member][0] += theirs[0];
  }
};

std::string barrier(const settings& each) {
  settings s = each;
  s.elements = 1;
  heard words{own_words(s.n(), 1)};
  std::string wrong = combine_in_runs(s, words, 0);
  if (wrong.empty()) {
    wrong = by_messages(s, words, [&](std::size_t i) { return barrier_schedule(s.hosts, i); });
  }
  if (wrong.empty()) wrong = spread_in_runs(s, words, 0);
  if (!wrong.empty()) return wrong;
  for (std::size_t i = 0; i < s.n(); ++i) {
    for (std::size_t k = 0; k < s.n(); ++k) {
      if (words[i][0].find(word(k, 0)) == std::string::npos) return "a member left too early";
    }
  }
  return "";
}

std::string broadcast(const settings& s) {
  team_words words = own_words(s.n(), s.elements);
  std::string wrong = by_messages(s, words, [&](std::size_t i) {
    return down_schedule(member_tree(s.hosts, i, s.root), span_of{0, s.elements});
  });
  if (wrong.empty()) wrong = spread_in_runs(s, words, s.root);
  for (std::size_t i = 0; wrong.empty() && i < s.n(); ++i) {
    if (words[i] != words[s.root]) return "the broadcast did not reach " + std::to_string(i);
  }
  return wrong;
}

std::string reduce(const settings& s) {
  team_words words = own_words(s.n(), s.elements);
  std::string wrong = combine_in_runs(s, words, s.root);
  if (wrong.empty()) {
    wrong = by_messages(s, words, [&](std::size_t i) {
      return up_schedule(member_tree(s.hosts, i, s.root), span_of{0, s.elements});
    });
  }
  for (std::size_t e = 0; wrong.empty() && e < s.elements; ++e) {
    if (words[s.root][e] != all_words(s.n(), e)) return "got " + words[s.root][e];
  }
  return wrong;
}

std::string allreduce(const settings& s, bool is_long) {
  team_words words = own_words(s.n(), s.elements);
  std::string wrong;
  if (!is_long) {
    wrong = combine_in_runs(s, words, 0);
  } else {
    wrong = within_runs(s, fault::no_boards_before, words, words,
                        [&](const span_of& run, std::size_t i) {
                          return board_long_allreduce(run.size(), i, s.elements, part, 0);
                        });
  }
  if (wrong.empty()) {
    wrong = by_messages(s, words, [&](std::size_t i) {
      return heads_allreduce_schedule(s.hosts, i, s.elements, is_long);
    });
  }
  // The first member of each run has the result of all.
  if (wrong.empty()) {
    wrong =
        within_runs(s, fault::no_boards_after, words, words, [&](const span_of&, std::size_t i) {
          return board_broadcast_schedule(i, 0, s.elements, part);
        });
  }
  for (std::size_t i = 0; wrong.empty() && i < s.n(); ++i) {
    for (std::size_t e = 0; e < s.elements; ++e) {
      if (words[i][e] != all_words(s.n(), e)) return std::to_string(i) + " got " + words[i][e];
    }
  }
  return wrong;
}
std::string short_allreduce(const settings& s) { return allreduce(s, false); }
std::string long_allreduce(const settings& s) { return allreduce(s, true); }

struct named_run {
  const char* name;
  std::string (*run)(const settings&);
};
constexpr named_run all_collectives[] = {{"barrier", barrier},
                                         {"broadcast", broadcast},
                                         {"reduce", reduce},
                                         {"allreduce_short", short_allreduce},
                                         {"allreduce_long", long_allreduce}};

// One part, several, and more than a board has slots; also none.
constexpr std::size_t sizes[] = {0, 1, part, part + 1, 12 * part + 2};

std::string run_all(const named_run& collective, std::size_t most, std::uint64_t seed, fault f) {
  for (std::size_t n = 1; n <= most; ++n) {
    for (std::size_t root = 0; root < n; ++root) {
      const std::size_t elements = sizes[(root + seed) % std::size(sizes)];
      const std::string wrong = collective.run({random_hosts(n, seed), root, elements, seed, f});
      if (!wrong.empty()) {
        return std::to_string(n) + " members, root " + std::to_string(root) + ", " +
               std::to_string(elements) + " elements: " + wrong;
      }
    }
  }
  return "";
}

class hosts_sim : public testing::TestWithParam<named_run> {};

TEST_P(hosts_sim, every_size_and_root) {
  const sim::seeds_wanted seeds(5);
  EXPECT_EQ(sim::first_wrong_seed(seeds.first, seeds.last,
                                  [](std::uint64_t seed) {
                                    return run_all(GetParam(), most_members, seed, fault::none);
                                  }),
            "");
}

INSTANTIATE_TEST_SUITE_P(all, hosts_sim, testing::ValuesIn(all_collectives),
                         [](const auto& of) { return std::string(of.param.name); });

TEST(hosts_sims, every_fault_is_seen) {
  for (const named_run& c : all_collectives) {
    for (const fault f : {fault::no_boards_before, fault::no_messages, fault::no_boards_after}) {
      const bool has_before = c.run != broadcast;
      const bool has_after = c.run != reduce;
      if (f == fault::no_boards_before && !has_before) continue;
      if (f == fault::no_boards_after && !has_after) continue;
      EXPECT_NE(run_all(c, 12, 1, f), "") << c.name << ": " << name(f);
    }
  }
}

// ---- the numbers in docs/protocols/team.md ------------------------------------------------------

// Expects that all members together send this many messages, and that no member but the head of its
// run sends any.
template <class Make>
void expect_messages(const host_runs& hosts, std::size_t root, std::size_t messages, Make make) {
  std::size_t all = 0;
  auto schedules = crossing(hosts, make);
  for (std::size_t i = 0; i < hosts.members(); ++i) {
    while (const auto e = schedules[i].next()) {
      EXPECT_EQ(i, head_of(run_of(hosts, i), root));
      all += static_cast<std::size_t>(e->to != nobody);
    }
  }
  EXPECT_EQ(all, messages) << hosts.members();
}

TEST(hosts_sims, only_heads_of_runs_send_messages) {
  for (std::size_t n = 2; n <= 300; ++n) {
    const host_runs hosts = random_hosts(n, n);
    const std::size_t h = hosts.count();
    if (h == 1) continue;
    const auto levels = static_cast<std::size_t>(std::bit_width(h)) - 1;
    const std::size_t power = std::bit_floor(h);
    expect_messages(hosts, 0, h * static_cast<std::size_t>(std::bit_width(h - 1)),
                    [&](std::size_t i) { return barrier_schedule(hosts, i); });
    expect_messages(hosts, n / 2, h - 1, [&](std::size_t i) {
      return down_schedule(member_tree(hosts, i, n / 2), span_of{0, 1});
    });
    expect_messages(hosts, n / 3, h - 1, [&](std::size_t i) {
      return up_schedule(member_tree(hosts, i, n / 3), span_of{0, 1});
    });
    expect_messages(hosts, 0, power * levels + 2 * (h - power),
                    [&](std::size_t i) { return heads_allreduce_schedule(hosts, i, 1, false); });
    expect_messages(hosts, 0, 2 * power * levels + 2 * (h - power),
                    [&](std::size_t i) { return heads_allreduce_schedule(hosts, i, 1000, true); });
  }
}

}  // namespace
