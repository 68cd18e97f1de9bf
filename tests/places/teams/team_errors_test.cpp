// SPDX-License-Identifier: Apache-2.0
// Misuse of teams throws, and no member waits forever if members make different calls.
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "check.hpp"

namespace {

using apgas::illegal_operation;
using apgas::place;
using apgas::place_group;
using apgas::team;
using test::check;

// The message of the illegal_operation that f throws, or "".
template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const illegal_operation& e) {
    return e.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Runs first(t) at place 0 and others(t) at all other places, with a new team of all places, whose
// members have agreed on the use of shared memory in a call before.
// Returns the message that each place got.
template <class First, class Others>
std::vector<std::string> refusals(First first, Others others) {
  const team t{place_group(apgas::places())};
  std::vector<std::string> all(static_cast<std::size_t>(apgas::num_places()));
  apgas::finish([&] {
    for (place p : apgas::places()) {
      apgas::async([&all, p, t, first, others] {
        all[static_cast<std::size_t>(p.id())] = apgas::at(
            p,
            [](const team& with, First& f, Others& o) {
              return refusal([&] {
                with.barrier();  // it may still wait here when others notice what follows
                apgas::here() == place() ? f(with) : o(with);
              });
            },
            t, first, others);
      });
    }
  });
  return all;
}

// At every place the call threw, with a message that names both calls and their lines.
void expect_both(const std::vector<std::string>& all, const std::string& one, int line_of_one,
                 const std::string& other, int line_of_other) {
  const auto at_line = [](int line) {
    return "team_errors_test.cpp:" + std::to_string(line) + " ";
  };
  for (const std::string& text : all) {
    EXPECT_TRUE(has(text, "different order")) << text;
    EXPECT_TRUE(has(text, one) && has(text, at_line(line_of_one))) << line_of_one << ": " << text;
    EXPECT_TRUE(has(text, other) && has(text, at_line(line_of_other)))
        << line_of_other << ": " << text;
  }
}

TEST(team_errors, the_group_is_empty_or_has_a_place_twice) {
  EXPECT_THROW(team{place_group()}, apgas::bad_place);
  EXPECT_THROW(place_group({place(), place()}), apgas::bad_place);
}

TEST(team_errors, the_handle_is_empty) {
  EXPECT_TRUE(has(refusal([] { team().barrier(); }), "empty team"));
  EXPECT_TRUE(has(refusal([] { team().destroy(); }), "empty team"));
}

TEST(team_errors, the_handle_is_stale_or_the_place_is_not_a_member) {
  const team alone{place_group({test::last()})};
  apgas::at(test::last(), [alone] {
    check(alone.size() == 1);
    check(alone.allreduce(3, std::plus<>()) == 3);
    alone.destroy();
    check(has(refusal([&] { alone.barrier(); }), "destroyed"));
    check(has(refusal([&] { alone.destroy(); }), "destroyed"));
  });
  if (test::last() == apgas::here()) return;
  EXPECT_TRUE(has(refusal([alone] { alone.barrier(); }), "not in its group"));
}

TEST(team_errors, the_world_is_destroyed) {
  EXPECT_TRUE(has(refusal([] { team::world().destroy(); }), "world"));
}

TEST(team_errors, a_call_is_inside_an_atomic_section) {
  EXPECT_THROW(apgas::atomic([] { team::world().barrier(); }), illegal_operation);
}

TEST(team_errors, sizes_do_not_fit) {
  const team t{place_group({apgas::here()})};
  std::vector<int> three(3);
  std::vector<int> four(4);
  const std::string text = refusal([&] { t.scatter(std::span(three), std::span(four), place()); });
  EXPECT_TRUE(has(text, "team::scatter") && has(text, "3") && has(text, "4")) << text;
  EXPECT_TRUE(has(refusal([&] { t.barrier(); }), "left scatter")) << "the team is broken";
}

TEST(team_errors, the_root_is_not_a_member) {
  if (apgas::num_places() == 1) return;
  const team t{place_group({apgas::here()})};
  EXPECT_THROW(t.broadcast(1, test::last()), apgas::bad_place);
}

TEST(team_errors, two_tasks_of_a_place_call_at_the_same_time) {
  if (apgas::num_places() == 1) return;
  const team t{place_group(apgas::places())};
  std::string texts[2];
  apgas::finish([&] {
    for (std::string& text : texts) {
      apgas::async([&text, t] { text = refusal([&] { t.barrier(); }); });
    }
  });
  for (const std::string& text : texts) EXPECT_TRUE(has(text, "two tasks of place 0")) << text;
}

TEST(team_errors, the_first_calls_of_a_team_differ) {
  if (apgas::num_places() == 1) return;
  const team t{place_group(apgas::places())};
  std::vector<std::string> all(static_cast<std::size_t>(apgas::num_places()));
  const int line = __LINE__;
  apgas::finish([&] {
    for (place p : apgas::places()) {
      apgas::async([&all, p, t] {
        all[static_cast<std::size_t>(p.id())] = apgas::at(p, [t] {
          if (apgas::here() == place()) return refusal([&] { t.barrier(); });
          return refusal([&] { t.broadcast(1, place()); });
        });
      });
    }
  });
  expect_both(all, "barrier", line + 5, "broadcast with member 0", line + 6);
}

// ---- different orders ---------------------------------------------------------------------------

TEST(team_errors, a_barrier_meets_a_broadcast) {
  if (apgas::num_places() == 1) return;
  const int line = __LINE__;
  const auto all = refusals([](const team& t) { t.barrier(); },
                            [](const team& t) {
                              t.broadcast(1, place());
                              t.barrier();
                            });
  expect_both(all, "barrier", line + 1, "broadcast with member 0", line + 3);
}

TEST(team_errors, two_collectives_are_called_in_different_orders) {
  if (apgas::num_places() == 1) return;
  const int line = __LINE__;
  const auto all = refusals(
      [](const team& t) {
        static_cast<void>(t.allreduce(1, std::plus<>()));
        t.barrier();
      },
      [](const team& t) {
        t.barrier();
        static_cast<void>(t.allreduce(1, std::plus<>()));
      });
  expect_both(all, "allreduce of 4 bytes", line + 3, "barrier", line + 7);
}

TEST(team_errors, sizes_differ) {
  if (apgas::num_places() == 1) return;
  const int line = __LINE__;
  const auto all =
      refusals([](const team& t) { static_cast<void>(t.allreduce(1L, std::plus<>())); },
               [](const team& t) { static_cast<void>(t.allreduce(1, std::plus<>())); });
  expect_both(all, "of 8 bytes", line + 2, "of 4 bytes", line + 3);
}

// No message is sent: each member takes another one for the root and waits for it.
TEST(team_errors, roots_wait_for_each_other) {
  if (apgas::num_places() == 1) return;
  const int line = __LINE__;
  const auto all = refusals([](const team& t) { t.broadcast(1, test::last()); },
                            [](const team& t) { t.broadcast(1, place()); });
  expect_both(all, "broadcast with member " + std::to_string(test::last().id()), line + 1,
              "broadcast with member 0", line + 2);
}

// The message arrives after the receiver has left its own call.
TEST(team_errors, a_message_arrives_for_a_call_that_is_over) {
  if (apgas::num_places() == 1) return;
  const int line = __LINE__;
  const std::vector<std::string> all = refusals(
      [](const team& t) {
        t.broadcast(1, place());  // sends and continues
        t.barrier();
        t.barrier();  // a leaf may have received all messages of the first one
      },
      [](const team& t) {
        static_cast<void>(t.reduce(1, std::plus<>(), place()));  // sends and continues
        t.barrier();
        t.barrier();
      });
  expect_both(all, "at place 0", line + 3, "at place", line + 8);
}

TEST(team_errors, the_operation_throws) {
  if (apgas::num_places() == 1) return;
  const team t{place_group(apgas::places())};
  int failed = 0;
  int refused = 0;
  apgas::finish([&] {
    for (place p : apgas::places()) {
      apgas::async([&, p] {
        try {
          apgas::at(p, [t] {
            t.allreduce(1, [](int a, int b) -> int {
              if (apgas::here() == place()) throw std::runtime_error("no sum today");
              return a + b;
            });
            t.barrier();
          });
        } catch (const std::runtime_error& e) {
          const std::string text = e.what();
          if (text == "no sum today") ++failed;
          if (has(text, "left allreduce") && has(text, "no sum today")) ++refused;
        }
      });
    }
  });
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(refused, apgas::num_places() - 1);
}

}  // namespace
