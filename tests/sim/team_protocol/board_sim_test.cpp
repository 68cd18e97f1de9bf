// SPDX-License-Identifier: Apache-2.0
// The schedules of collectives through bulletin boards, for every number of members up to 33 and
// every root, in random orders, with one part and with several. The values are words, so that a
// result shows which members were combined and in which order.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim_board.hpp"
#include "sim_runs.hpp"

namespace {

using namespace apgas::remote;
using sim::board_world;
using sim::posts;
using sim::schedules_of;
using sim::team_words;

constexpr std::size_t most_members = 33;
constexpr std::size_t part = 3;  // elements of a post

// Mistakes in the steps of one member.
enum class fault { none, forgets_one, other_number, other_order, other_range, takes_none, last };
const char* name(fault f) {
  constexpr const char* names[] = {
      "no fault",    "a step is missing",    "a post that is read has another number",
      "wrong order", "a range is different", "nothing is taken"};
  return names[static_cast<std::size_t>(f)];
}

template <class Schedule>
class faulty {
 public:
  faulty(Schedule s, fault f) : schedule_(s), fault_(f) {}

  std::optional<board_step> next() {
    auto step = schedule_.next();
    if (!step || fault_ == fault::none) return step;
    if (fault_ == fault::takes_none) {
      step->takes = false;
    } else if (fault_ == fault::forgets_one) {
      fault_ = fault::none;
      return schedule_.next();
    } else if (!step->publishes) {
      const fault f = std::exchange(fault_, fault::none);
      if (f == fault::other_number) ++step->number;
      if (f == fault::other_range) ++step->post.last;
      if (f == fault::other_order) {
        step->how = step->how == taking::mine_first ? taking::theirs_first : taking::mine_first;
      }
    }
    return step;
  }

 private:
  Schedule schedule_;
  fault fault_;
};

struct settings {
  std::size_t n;
  std::size_t root;
  std::size_t elements;
  std::uint64_t seed;
  fault f = fault::none;
  posts kind = posts::copied;
};

// All members execute make(index), the last one with a fault.
template <class Make>
std::string run_boards(const settings& s, team_words& out, team_words& in, Make make,
                       bool all_must_have_entered = false) {
  auto schedules = schedules_of(
      s.n, [&](std::size_t i) { return faulty(make(i), i == s.n - 1 ? s.f : fault::none); });
  sim::random_choice chooser(s.seed);
  return board_world(std::move(schedules), out, in, s.kind).run(chooser, all_must_have_entered);
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
team_words no_words(std::size_t n, std::size_t elements) {
  return {n, std::vector<std::string>(elements)};
}

// ---- each collective; returns "" or an error ----------------------------------------------------

std::string barrier(const settings& s) {
  team_words nothing(s.n, {});
  return run_boards(
      s, nothing, nothing, [&](std::size_t i) { return board_barrier_schedule(s.n, i); }, true);
}

std::string allreduce(const settings& s, bool is_long) {
  team_words words = own_words(s.n, s.elements);
  const auto make_short = [&](std::size_t i) { return board_short_allreduce(s.n, i, s.elements); };
  const auto make_long = [&](std::size_t i) {
    return board_long_allreduce(s.n, i, s.elements, part);
  };
  const std::string wrong = is_long ? run_boards(s, words, words, make_long, true)
                                    : run_boards(s, words, words, make_short, true);
  if (!wrong.empty()) return wrong;
  for (std::size_t i = 0; i < s.n; ++i) {
    for (std::size_t e = 0; e < s.elements; ++e) {
      if (words[i][e] != all_words(s.n, e)) return std::to_string(i) + " got " + words[i][e];
    }
  }
  return "";
}
std::string short_allreduce(const settings& s) { return allreduce(s, false); }
std::string long_allreduce(const settings& s) { return allreduce(s, true); }

// A long allreduce whose result only the root collects.
std::string collect(const settings& s) {
  team_words words = own_words(s.n, s.elements);
  const std::string wrong = run_boards(s, words, words, [&](std::size_t i) {
    return board_long_allreduce(s.n, i, s.elements, part, s.root);
  });
  if (!wrong.empty()) return wrong;
  for (std::size_t e = 0; e < s.elements; ++e) {
    if (words[s.root][e] != all_words(s.n, e)) return "got " + words[s.root][e];
  }
  return "";
}

std::string broadcast(const settings& s) {
  team_words words = own_words(s.n, s.elements);
  const std::string wrong = run_boards(s, words, words, [&](std::size_t i) {
    return board_broadcast_schedule(i, s.root, s.elements, part);
  });
  if (!wrong.empty()) return wrong;
  for (std::size_t i = 0; i < s.n; ++i) {
    if (words[i] != words[s.root]) return "the broadcast did not reach " + std::to_string(i);
  }
  return "";
}

std::string reduce(const settings& s) {
  team_words words = own_words(s.n, s.elements);
  const std::string wrong = run_boards(s, words, words, [&](std::size_t i) {
    return board_up_schedule(s.n, i, s.root, s.elements, part, true);
  });
  if (!wrong.empty()) return wrong;
  for (std::size_t e = 0; e < s.elements; ++e) {
    if (words[s.root][e] != all_words(s.n, e)) return "got " + words[s.root][e];
  }
  return "";
}

std::string gather(const settings& s) {
  team_words out = own_words(s.n, s.elements);
  team_words in = no_words(s.n, s.n * s.elements);
  const std::string wrong = run_boards(s, out, in, [&](std::size_t i) {
    return board_up_schedule(s.n, i, s.root, s.elements, part, false);
  });
  for (std::size_t i = 0; wrong.empty() && i < s.n; ++i) {
    for (std::size_t e = 0; i != s.root && e < s.elements; ++e) {
      if (in[s.root][i * s.elements + e] != word(i, e)) return "block of " + std::to_string(i);
    }
  }
  return wrong;
}

std::string scatter(const settings& s) {
  team_words out = own_words(s.n, s.n * s.elements);
  team_words in = no_words(s.n, s.elements);
  const std::string wrong = run_boards(s, out, in, [&](std::size_t i) {
    return board_scatter_schedule(s.n, i, s.root, s.elements, part);
  });
  for (std::size_t i = 0; wrong.empty() && i < s.n; ++i) {
    for (std::size_t e = 0; i != s.root && e < s.elements; ++e) {
      if (in[i][e] != word(s.root, i * s.elements + e)) return "block of " + std::to_string(i);
    }
  }
  return wrong;
}

std::string alltoall(const settings& s) {
  if (s.n == 1) return "";  // such a team has no board
  team_words out = own_words(s.n, s.n * s.elements);
  team_words in = no_words(s.n, s.n * s.elements);
  const std::string wrong = run_boards(
      s, out, in, [&](std::size_t i) { return board_alltoall_schedule(s.n, i, s.elements, part); });
  for (std::size_t i = 0; wrong.empty() && i < s.n; ++i) {
    for (std::size_t k = 0; k < s.n * s.elements; ++k) {
      const std::size_t from = k / s.elements;
      if (from == i) continue;
      if (in[i][k] != word(from, i * s.elements + k % s.elements)) return "a block is wrong";
    }
  }
  return wrong;
}

struct named_run {
  const char* name;
  std::string (*run)(const settings&);
  bool zero_copy = false;  // its posts, if they are long
};
constexpr named_run all_collectives[] = {{"barrier", barrier},
                                         {"allreduce_short", short_allreduce},
                                         {"allreduce_long", long_allreduce, true},
                                         {"broadcast", broadcast, true},
                                         {"reduce", reduce},
                                         {"gather", gather},
                                         {"scatter", scatter},
                                         {"alltoall", alltoall, true},
                                         {"collect", collect, true}};

// One part, several, and more than a board has slots; also none.
constexpr std::size_t sizes[] = {0, 1, part, part + 1, 12 * part + 2};

std::string run_all(const named_run& collective, std::size_t most, std::uint64_t seed, fault f,
                    posts kind = posts::copied) {
  for (std::size_t n = 1; n <= most; ++n) {
    for (std::size_t root = 0; root < n; ++root) {
      const settings s{n, root, sizes[(root + seed) % std::size(sizes)], seed, f, kind};
      const std::string wrong = collective.run(s);
      if (!wrong.empty()) {
        return std::to_string(n) + " members, root " + std::to_string(root) + ", " +
               std::to_string(s.elements) + " elements: " + wrong;
      }
    }
  }
  return "";
}

class board_sim : public testing::TestWithParam<named_run> {};

TEST_P(board_sim, every_size_and_root) {
  const sim::seeds_wanted seeds(5);
  EXPECT_EQ(sim::first_wrong_seed(seeds.first, seeds.last,
                                  [](std::uint64_t seed) {
                                    return run_all(GetParam(), most_members, seed, fault::none);
                                  }),
            "");
}

INSTANTIATE_TEST_SUITE_P(all, board_sim, testing::ValuesIn(all_collectives),
                         [](const auto& of) { return std::string(of.param.name); });

// Each fault is seen in at least one collective, and a wrong order in all reductions.
TEST(board_sims, every_fault_is_seen) {
  sim::expect_every_fault_seen<fault>([](fault f) -> std::string {
    for (const named_run& c : all_collectives) {
      for (std::uint64_t seed = 0; seed < 5; ++seed) {
        const std::string wrong = run_all(c, 6, seed, f);
        if (!wrong.empty()) return std::string(c.name) + ", " + wrong;
      }
    }
    return "";
  });
  for (const std::size_t i : {1U, 2U, 4U, 8U}) {
    EXPECT_NE(run_all(all_collectives[i], 6, 1, fault::other_order), "") << all_collectives[i].name;
  }
}

// The data have the right words whenever they are read, although results are written beside them. A
// member that does not wait until they were taken, or that takes nothing, is noticed.
TEST(board_sims, long_posts_may_be_zero_copy_posts) {
  for (const named_run& c : all_collectives) {
    if (!c.zero_copy) continue;
    const sim::seeds_wanted seeds(2);
    EXPECT_EQ(sim::first_wrong_seed(seeds.first, seeds.last,
                                    [&](std::uint64_t seed) {
                                      return run_all(c, most_members, seed, fault::none,
                                                     posts::zero_copy);
                                    }),
              "")
        << c.name;
    EXPECT_NE(run_all(c, 6, 1, fault::none, posts::zero_copy_without_waiting), "") << c.name;
    EXPECT_NE(run_all(c, 6, 1, fault::takes_none, posts::zero_copy), "") << c.name;
  }
}

}  // namespace
