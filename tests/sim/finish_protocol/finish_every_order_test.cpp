// SPDX-License-Identifier: Apache-2.0
// Runs every program of a few tasks in every order in which its messages can arrive.
//   APGAS_TEST_STRIDE=n   runs every n-th program only (default 1), for slow builds
//   APGAS_TEST_THIN=n     runs every n-th program of four tasks and more (default 7; 1 in the test
//                         labelled `long`)
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim_finish_world.hpp"
#include "sim_runs.hpp"

namespace {

using sim::op;
using sim::totals;

struct program_space {
  int tasks;
  std::vector<op> kinds;
  bool finishes;  // any task that has children may open a finish for them
};

const char* word(op kind) {
  if (kind == op::at) return " at ";
  return kind == op::uncounted ? " uncounted_async_at " : " async_at ";
}

// Makes the n-th program of a space, whose description is the digits of n. Returns false if n is
// past the last one. Place 0 is home. Places 1 and 2 are equivalent, so the first task that leaves
// home goes to place 1.
bool make(const program_space& space, std::uint64_t n, sim::tree_script& program,
          std::string& text) {
  sim::digits rest(n);
  const auto digit = [&rest](int base) {
    return static_cast<int>(rest.next(static_cast<std::size_t>(base)));
  };
  for (int i = 1; i <= space.tasks; ++i) {
    const int parent = digit(i);
    const int place = digit(3);
    const op kind = space.kinds[rest.next(space.kinds.size())];
    program.add(parent, place, kind);
    text.append(" ").append(std::to_string(parent)).append(word(kind));
    text.append(std::to_string(place)).append(";");
  }
  for (int i = 0; space.finishes && i < space.tasks; ++i) {
    if (digit(2) == 0) continue;
    program.at(i).own_finish = true;
    text.append(" finish in ").append(std::to_string(i)).append(";");
  }
  return rest.used_up();
}

bool canonical(sim::tree_script& program, int tasks) {
  for (int i = 1; i <= tasks; ++i) {
    if (program.at(i).place != 0) return program.at(i).place == 1;
  }
  return false;  // nothing leaves home
}

bool has_empty_finish(sim::tree_script& program, int tasks) {
  for (int i = 0; i <= tasks; ++i) {
    if (program.at(i).own_finish && program.at(i).children.empty()) return true;
  }
  return false;
}

// Runs every order of every program. Returns what is wrong with the first that fails, or "".
std::string every_program(const program_space& space, const sim::settings& s, totals& sum,
                          std::uint64_t stride = 1) {
  for (std::uint64_t n = 0;; n += stride) {
    sim::tree_script program;
    std::string text;
    if (!make(space, n, program, text)) return "";
    if (!canonical(program, space.tasks) || has_empty_finish(program, space.tasks)) continue;
    std::string wrong = sim::every_order(sum, [&](sim::choice& chooser) {
      sim::tree_script copy = program;
      return sim::run(s, copy, chooser);
    });
    if (wrong.empty()) continue;
    wrong.append(" with share ").append(std::to_string(s.share)).append(":");
    return wrong.append(text);
  }
}

// A stride of 7 gives each digit of a program every value.
void expect_right(const program_space& space, const sim::settings& s) {
  totals sum;
  const std::uint64_t step = space.tasks > 3 ? sim::thinned(7) : 1;
  EXPECT_EQ(every_program(space, s, sum, step * sim::stride_wanted()), "");
  EXPECT_GT(sum.states, 1000U);
  std::cout << space.tasks << " tasks, share " << s.share << ": " << sum << '\n';
}

sim::settings tiny(std::uint64_t share, bool late_reports) {
  sim::settings s;
  s.share = share;
  s.order = sim::schedule::tasks_first;
  s.late_reports = late_reports;
  s.max_steps = 10'000;
  return s;
}

// With shares of 1 every send waits for a grant, with full ones none does.
TEST(finish_every_order, three_tasks_of_all_kinds) {
  const program_space space{3, {op::async_at, op::at, op::uncounted}, true};
  for (const std::uint64_t share : {std::uint64_t{1}, std::uint64_t{2}, apgas::sync::full_share}) {
    expect_right(space, tiny(share, true));
  }
}

// The same with tree return; also with full shares, or no tree of places would grow.
TEST(finish_every_order, linked_frames) {
  for (const std::uint64_t share : {std::uint64_t{1}, apgas::sync::full_share}) {
    sim::settings s = tiny(share, true);
    s.links = 2;
    expect_right({3, {op::async_at, op::at, op::uncounted}, true}, s);
    expect_right({4, {op::async_at, op::at}, false}, s);
  }
}

TEST(finish_every_order, four_tasks) {
  const program_space space{4, {op::async_at, op::at}, false};
  expect_right(space, tiny(1, true));
  expect_right(space, tiny(apgas::sync::full_share, true));
}

TEST(finish_every_order, five_tasks) {
  const program_space space{5, {op::async_at}, false};
  expect_right(space, tiny(2, false));
}

// The programs are large enough to reveal every fault; one fault needs four tasks.
TEST(finish_every_order, every_fault_is_seen) {
  const program_space space{3, {op::async_at, op::at, op::uncounted}, true};
  sim::expect_every_fault_seen<sim::fault>([&space](sim::fault f) {
    sim::settings s = tiny(1, true);
    s.broken = f;
    if (s.broken >= sim::fault::first_of_links) {
      s.links = 2;
      s.share = apgas::sync::full_share;
    }
    totals sum;
    std::string wrong = every_program(space, s, sum);
    if (wrong.empty()) wrong = every_program({4, {op::async_at}, false}, s, sum);
    return sim::after_runs(sum, wrong);
  });
}

}  // namespace
