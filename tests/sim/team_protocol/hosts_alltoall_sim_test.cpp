// SPDX-License-Identifier: Apache-2.0
// The alltoall of short blocks in a team on several hosts that uses bulletin boards within each
// run, as in hosts_sim_test.cpp.
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <apgas/places/heads_alltoall.hpp>

#include "sim_hosts.hpp"

namespace {

using namespace apgas::remote;
using namespace sim;
using content = team_words::content;

void copy_words(content& to, std::size_t at, const content& from, std::size_t first,
                std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[at + i] = from[first + i];
}

template <class Body>
void for_each_head(const settings& s, Body body) {
  for (std::size_t r = 0; r < s.hosts.count(); ++r) {
    const span_of run = s.hosts.run(r);
    body(run.first, run);
  }
}

// The head of a run gathers `each` words from every member of it, or deals out `each`
// words to every member.
std::string gather_in_runs(const settings& s, std::size_t each, team_words& out, team_words& in) {
  for_each_head(s, [&](std::size_t head, auto&) { copy_words(in[head], 0, out[head], 0, each); });
  return within_runs(s, fault::no_boards_before, out, in, [&](const span_of& run, std::size_t i) {
    return board_up_schedule(run.size(), i, 0, each, part, false);
  });
}
std::string scatter_in_runs(const settings& s, std::size_t each, team_words& out, team_words& in) {
  for_each_head(s, [&](std::size_t head, auto&) { copy_words(in[head], 0, out[head], 0, each); });
  return within_runs(s, fault::no_boards_after, out, in, [&](const span_of& run, std::size_t i) {
    return board_scatter_schedule(run.size(), i, 0, each, part);
  });
}

// The messages of a head; none for the other members.
struct head_messages {
  std::optional<heads_alltoall_schedule> schedule;
  std::optional<exchange> next() { return schedule ? schedule->next() : std::nullopt; }
};
head_messages messages_of(const host_runs& hosts, std::size_t member) {
  if (run_of(hosts, member).first != member) return {};
  return {heads_alltoall_schedule(hosts, member)};
}

// Words that are received do not replace those that are still to be sent.
struct two_sides : team_words {
  two_sides(const team_words& out, team_words& in) : team_words(out), in_(&in) {}
  void received(std::size_t member, exchange e, const content& theirs) {
    in_->received(member, e, theirs);
  }

 private:
  team_words* in_;
};

// Returns "" or an error. Blocks are one word each.
std::string alltoall(const settings& s) {
  const std::size_t n = s.n();
  team_words out = own_words(n, n);
  team_words gathered(n, content(n * n));
  std::string wrong = gather_in_runs(s, n, out, gathered);
  if (!wrong.empty()) return wrong;
  team_words leaving(n, content(n * n));
  team_words arrived(n, content(n * n));
  for_each_head(s, [&](std::size_t head, const span_of& run) {
    sort_by_receiver(n, run.size(), [&](std::size_t to, std::size_t from) {
      leaving[head][to] = gathered[head][from];
    });
    const span_of within = blocks_between(run, run.size());
    copy_words(arrived[head], within.first, leaving[head], within.first, within.size());
  });
  two_sides words(leaving, arrived);
  wrong = by_messages(s, words, [&](std::size_t i) { return messages_of(s.hosts, i); });
  if (!wrong.empty()) return wrong;
  team_words dealt(n, content(n * n));
  for_each_head(s, [&](std::size_t head, const span_of& run) {
    deal_out(s.hosts, run.size(), [&](std::size_t to, std::size_t from, std::size_t count) {
      copy_words(dealt[head], to, arrived[head], from, count);
    });
  });
  team_words in(n, content(n));
  wrong = scatter_in_runs(s, n, dealt, in);
  for (std::size_t i = 0; wrong.empty() && i < n; ++i) {
    for (std::size_t from = 0; from < n; ++from) {
      if (in[i][from] != word(from, i)) return "a block is wrong";
    }
  }
  return wrong;
}

// With 1 to `most` members.
std::string run_all(std::size_t most, std::uint64_t seed, fault f) {
  for (std::size_t n = 1; n <= most; ++n) {
    const std::string wrong = alltoall({random_hosts(n, seed), 0, 1, seed, f});
    if (!wrong.empty()) return std::to_string(n) + " members: " + wrong;
  }
  return "";
}

TEST(hosts_alltoall_sim, every_size) {
  const seeds_wanted seeds(20);
  EXPECT_EQ(
      first_wrong_seed(seeds.first, seeds.last,
                       [](std::uint64_t seed) { return run_all(most_members, seed, fault::none); }),
      "");
}

TEST(hosts_alltoall_sim, every_fault_is_seen) {
  for (const fault f : {fault::no_boards_before, fault::no_messages, fault::no_boards_after}) {
    EXPECT_NE(run_all(12, 1, f), "") << name(f);
  }
}

TEST(hosts_alltoall_sim, sends_one_message_from_each_run_to_each_other) {
  for (std::size_t n = 1; n <= 300; ++n) {
    const host_runs hosts = random_hosts(n, n);
    std::size_t messages = 0;
    for (std::size_t i = 0; i < n; ++i) {
      head_messages of_member = messages_of(hosts, i);
      while (of_member.next()) ++messages;
    }
    EXPECT_EQ(messages, hosts.count() * (hosts.count() - 1));
  }
}

}  // namespace
