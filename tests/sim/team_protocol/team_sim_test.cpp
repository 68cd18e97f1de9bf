// SPDX-License-Identifier: Apache-2.0
// The schedules of teams, for every number of members up to 33 and every root, in random orders, on
// one host and on several. The values are words, so that a result shows which members were combined
// and in which order.
#include <algorithm>
#include <bit>
#include <cctype>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim_runs.hpp"
#include "sim_team.hpp"

namespace {

using namespace apgas::remote;
using sim::schedules_of;
using sim::team_words;
using sim::team_world;

constexpr std::size_t most_members = 33;

// Mistakes in the steps of one member.
enum class fault { none, no_send, other_step, other_order, other_range, forgets_one, last };
const char* name(fault f) {
  constexpr const char* names[] = {
      "no fault",    "a send is missing",    "a step has another number",
      "wrong order", "a range is different", "a step is missing"};
  return names[static_cast<std::size_t>(f)];
}

template <class Schedule>
class faulty {
 public:
  faulty(Schedule s, fault f) : schedule_(s), fault_(f) {}

  std::optional<exchange> next() {
    auto e = schedule_.next();
    if (!e || fault_ == fault::none) return e;
    const fault f = std::exchange(fault_, fault::none);
    if (f == fault::forgets_one) return schedule_.next();
    if (f == fault::no_send) e->to = nobody;
    if (f == fault::other_step) ++e->step;
    if (f == fault::other_range && e->in.size() != 0) --e->in.last;
    if (f == fault::other_order) {
      e->how = e->how == taking::mine_first ? taking::theirs_first : taking::mine_first;
    }
    return e;
  }

 private:
  Schedule schedule_;
  fault fault_;
};

// All members execute make(index), the last one with a fault.
template <class Make>
std::string run_words(std::size_t n, team_words& words, std::uint64_t seed, fault f, Make make,
                      bool all_must_have_entered = false) {
  const auto schedules =
      schedules_of(n, [&](std::size_t i) { return faulty(make(i), i == n - 1 ? f : fault::none); });
  sim::random_choice chooser(seed);
  return team_world(schedules, words).run(chooser, all_must_have_entered).wrong;
}

std::string word(std::size_t member, std::size_t element) {
  return "(" + std::to_string(member) + "." + std::to_string(element) + ")";
}
std::string all_words(std::size_t n, std::size_t element) {
  std::string all;
  for (std::size_t i = 0; i < n; ++i) all += word(i, element);
  return all;
}
team_words own_words(std::size_t n, std::size_t elements) {
  team_words words(n, std::vector<std::string>(elements));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t e = 0; e < elements; ++e) words[i][e] = word(i, e);
  }
  return words;
}

std::string at(std::size_t n, std::size_t root, const std::string& wrong) {
  return std::to_string(n) + " members, root " + std::to_string(root) + ": " + wrong;
}

// All members on one host, each on a host of its own, or hosts of random sizes, depending on the
// seed.
host_runs some_hosts(std::size_t n, std::uint64_t seed) {
  if (seed % 3 == 0) return host_runs(n);
  if (seed % 3 == 1) return host_runs(n, [](auto...) { return false; });
  std::mt19937_64 random(seed + n);
  const std::uint64_t rarely = 1 + random() % 8;
  return host_runs(n, [&](auto...) { return random() % rarely != 0; });
}

// ---- each collective; returns "" or an error ----------------------------------------------------

std::string barrier(std::size_t n, std::size_t, std::uint64_t seed, fault f) {
  const host_runs hosts = some_hosts(n, seed);
  team_words nothing(n, {});
  return run_words(
      n, nothing, seed, f, [&](std::size_t i) { return barrier_schedule(hosts, i); }, true);
}

std::string broadcast(std::size_t n, std::size_t root, std::uint64_t seed, fault f) {
  const host_runs hosts = some_hosts(n, seed);
  team_words words(n, std::vector<std::string>(2));
  words[root].assign(2, "news");
  const std::string wrong = run_words(n, words, seed, f, [&](std::size_t i) {
    return down_schedule(member_tree(hosts, i, root), span_of{0, 2});
  });
  if (!wrong.empty()) return wrong;
  for (std::size_t i = 0; i < n; ++i) {
    if (words[i] != words[root]) return "the broadcast did not reach " + std::to_string(i);
  }
  return "";
}

std::string scatter(std::size_t n, std::size_t root, std::uint64_t seed, fault f) {
  const host_runs hosts = some_hosts(n, seed);
  team_words words(n, std::vector<std::string>(n));
  for (std::size_t i = 0; i < n; ++i) words[root][i] = word(root, i);
  const std::string wrong = run_words(
      n, words, seed, f, [&](std::size_t i) { return down_schedule(member_tree(hosts, i, root)); });
  if (!wrong.empty()) return wrong;
  for (std::size_t i = 0; i < n; ++i) {
    if (words[i][i] != word(root, i)) return "block of " + std::to_string(i);
  }
  return "";
}

std::string gather(std::size_t n, std::size_t root, std::uint64_t seed, fault f) {
  const host_runs hosts = some_hosts(n, seed);
  team_words words(n, std::vector<std::string>(n));
  for (std::size_t i = 0; i < n; ++i) words[i][i] = word(i, 0);
  const std::string wrong = run_words(
      n, words, seed, f, [&](std::size_t i) { return up_schedule(member_tree(hosts, i, root)); });
  if (!wrong.empty()) return wrong;
  for (std::size_t i = 0; i < n; ++i) {
    if (words[root][i] != word(i, 0)) return "block of " + std::to_string(i);
  }
  return "";
}

std::string reduce(std::size_t n, std::size_t root, std::uint64_t seed, fault f) {
  const host_runs hosts = some_hosts(n, seed);
  team_words words = own_words(n, 2);
  const std::string wrong = run_words(n, words, seed, f, [&](std::size_t i) {
    return up_schedule(member_tree(hosts, i, root), span_of{0, 2});
  });
  if (!wrong.empty()) return wrong;
  for (std::size_t e = 0; e < 2; ++e) {
    if (words[root][e] != all_words(n, e)) return "got " + words[root][e];
  }
  return "";
}

std::string allreduce(std::size_t n, std::size_t elements, bool is_long, std::uint64_t seed,
                      fault f) {
  const host_runs hosts = some_hosts(n, seed);
  team_words words = own_words(n, elements);
  const std::string wrong = run_words(n, words, seed, f, [&](std::size_t i) {
    return allreduce_schedule(hosts, i, elements, is_long);
  });
  if (!wrong.empty()) return wrong;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t e = 0; e < elements; ++e) {
      if (words[i][e] != all_words(n, e)) return std::to_string(i) + " got " + words[i][e];
    }
  }
  return "";
}
std::string short_allreduce(std::size_t n, std::size_t root, std::uint64_t seed, fault f) {
  return allreduce(n, root % 4, false, seed, f);
}
std::string long_allreduce(std::size_t n, std::size_t root, std::uint64_t seed, fault f) {
  return allreduce(n, root * 3 % 50, true, seed, f);
}

std::string alltoall(std::size_t n, std::size_t, std::uint64_t seed, fault f) {
  // Block i of each member is for member i. Received blocks are kept apart, since the block at
  // their position may not have been sent yet.
  team_words out(n, std::vector<std::string>(n));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t to = 0; to < n; ++to) out[i][to] = word(i, to);
  }
  struct halves : team_words {
    halves(const team_words& o, std::size_t n)
        : team_words(o), in(n, std::vector<std::string>(n)) {}
    void received(std::size_t member, const exchange& e, const content& theirs) {
      in.received(member, e, theirs);
    }
    team_words in;
  } data(out, n);
  sim::random_choice chooser(seed);
  const auto schedules = schedules_of(n, [&](std::size_t i) {
    return faulty(alltoall_schedule(n, i), i == n - 1 ? f : fault::none);
  });
  const std::string wrong = team_world(schedules, data).run(chooser).wrong;
  if (!wrong.empty()) return wrong;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t from = 0; from < n; ++from) {
      if (from != i && data.in[i][from] != word(from, i)) return "a block is at the wrong position";
    }
  }
  return "";
}

using collective_run = std::string (*)(std::size_t, std::size_t, std::uint64_t, fault);
struct named_run {
  const char* name;
  collective_run run;
};
constexpr named_run all_collectives[] = {
    {"barrier", barrier},
    {"broadcast", broadcast},
    {"scatter", scatter},
    {"gather", gather},
    {"reduce", reduce},
    {"alltoall", alltoall},
    {"allreduce, short", short_allreduce},
    {"allreduce, long", long_allreduce},
};

std::string run_all(collective_run run, std::size_t most, std::uint64_t seed, fault f) {
  for (std::size_t n = 1; n <= most; ++n) {
    for (std::size_t root = 0; root < n; ++root) {
      const std::string wrong = run(n, root, seed, f);
      if (!wrong.empty()) return at(n, root, wrong);
    }
  }
  return "";
}

class team_sim : public testing::TestWithParam<named_run> {};

TEST_P(team_sim, every_size_and_root) {
  const sim::seeds_wanted seeds(5);
  EXPECT_EQ(sim::first_wrong_seed(seeds.first, seeds.last,
                                  [](std::uint64_t seed) {
                                    return run_all(GetParam().run, most_members, seed, fault::none);
                                  }),
            "");
}

INSTANTIATE_TEST_SUITE_P(all, team_sim, testing::ValuesIn(all_collectives), [](const auto& of) {
  std::string plain;
  for (const char c : std::string(of.param.name)) {
    if (std::isalpha(c) != 0) plain += c;
  }
  return plain;
});

// Each fault is seen in at least one collective, and a wrong order in all reductions.
TEST(team_sims, every_fault_is_seen) {
  sim::expect_every_fault_seen<fault>([](fault f) -> std::string {
    for (const named_run& c : all_collectives) {
      const std::string wrong = run_all(c.run, 6, 1, f);
      if (!wrong.empty()) return std::string(c.name) + ", " + wrong;
    }
    return "";
  });
  for (const collective_run run : {reduce, short_allreduce, long_allreduce}) {
    for (const std::uint64_t seed : {0U, 1U, 2U}) {
      EXPECT_NE(run_all(run, 6, seed, fault::other_order), "") << seed;
    }
  }
}

// ---- the numbers in docs/protocols/team.md ------------------------------------------------------

template <class Make>
void expect_counts(std::size_t n, std::int64_t frames, std::int64_t depth, Make make) {
  sim::team_sizes sizes;
  sim::traffic seen(static_cast<int>(n));
  sim::random_choice chooser(1);
  const sim::team_result r = team_world(schedules_of(n, make), sizes, &seen).run(chooser);
  EXPECT_EQ(r.wrong, "");
  EXPECT_EQ(seen.frames(), frames) << n;
  EXPECT_LE(r.depth, depth) << n;
}

std::int64_t log2_up(std::size_t n) { return static_cast<std::int64_t>(std::bit_width(n - 1)); }

// The number of messages that all members send to another run. Does not simulate waiting.
template <class Make>
std::int64_t messages_between(const host_runs& hosts, Make make) {
  std::int64_t between = 0;
  for (std::size_t i = 0; i < hosts.members(); ++i) {
    auto schedule = make(i);
    while (const auto e = schedule.next()) {
      const bool leaves = e->to != nobody && hosts.index_of_run(e->to) != hosts.index_of_run(i);
      between += static_cast<std::int64_t>(leaves);
    }
  }
  return between;
}

TEST(team_sims, messages_and_depth_on_one_host) {
  for (std::size_t n = 2; n <= 300; ++n) {
    const host_runs hosts(n);
    const auto members = static_cast<std::int64_t>(n);
    const auto power = static_cast<std::int64_t>(std::bit_floor(n));
    const std::int64_t rounds = log2_up(n);
    const std::int64_t levels = static_cast<std::int64_t>(std::bit_width(n)) - 1;  // rounded down
    const std::int64_t folds = members - power;
    expect_counts(n, members * rounds, rounds,
                  [&](std::size_t i) { return barrier_schedule(hosts, i); });
    expect_counts(n, members - 1, rounds,
                  [&](std::size_t i) { return down_schedule(member_tree(hosts, i, n / 2)); });
    expect_counts(n, members - 1, rounds,
                  [&](std::size_t i) { return up_schedule(member_tree(hosts, i, n / 3)); });
    expect_counts(n, power * levels + 2 * folds, levels + 2,
                  [&](std::size_t i) { return allreduce_schedule(hosts, i, 1, false); });
    expect_counts(n, 2 * power * levels + 2 * folds, 2 * levels + 2,
                  [&](std::size_t i) { return allreduce_schedule(hosts, i, 1000, true); });
    expect_counts(n, members * (members - 1), members,
                  [n](std::size_t i) { return alltoall_schedule(n, i); });
  }
}

TEST(team_sims, messages_and_depth_on_several_hosts) {
  for (std::size_t n = 2; n <= 300; ++n) {
    const host_runs hosts = some_hosts(n, 3 * n + 2);
    const auto members = static_cast<std::int64_t>(n);
    const auto runs = static_cast<std::int64_t>(hosts.count());
    std::int64_t longest = 0;
    for (std::size_t i = 0; i < hosts.count(); ++i) {
      longest = std::max(longest, log2_up(hosts.run(i).size()));
    }
    const auto down = [&](std::size_t i) { return down_schedule(member_tree(hosts, i, n / 2)); };
    const auto up = [&](std::size_t i) { return up_schedule(member_tree(hosts, i, n / 3)); };
    const std::int64_t deepest = log2_up(n) + 1;
    expect_counts(n, members - 1, deepest, down);
    expect_counts(n, members - 1, deepest, up);
    EXPECT_EQ(messages_between(hosts, down), runs - 1) << n;
    EXPECT_EQ(messages_between(hosts, up), runs - 1) << n;
    if (runs == 1) continue;
    const auto barrier = [&](std::size_t i) { return barrier_schedule(hosts, i); };
    const std::int64_t between = runs * log2_up(hosts.count());
    expect_counts(n, 2 * (members - runs) + between, 2 * longest + log2_up(hosts.count()), barrier);
    EXPECT_EQ(messages_between(hosts, barrier), between) << n;
  }
}

}  // namespace
