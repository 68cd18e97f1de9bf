// SPDX-License-Identifier: Apache-2.0
// The cost of the common shapes of a finish, in frames and messages between its home and the other
// places. The runtime finds the shape by itself; docs/protocols/finish.md has a table.
#include <cstdint>
#include <cstdio>

#include <gtest/gtest.h>

#include <apgas/sync/place_state.hpp>

#include "check.hpp"

namespace {

using apgas::place;

struct cost {
  std::uint64_t frames_out = 0, frames_in = 0, messages = 0;
};

cost of_home() {
  const auto& network = *apgas::sync::place_of(*apgas::scheduler::current_fiber()).endpoint;
  cost all;
  for (int rank = 1; rank < apgas::num_places(); ++rank) {
    const auto with = network.traffic_with(rank);
    all.frames_out += with.frames_sent;
    all.frames_in += with.frames_received;
    all.messages += with.messages_sent + with.messages_received;
  }
  return all;
}

// The cost of a finish around f, at its home.
template <class F>
cost cost_of(const char* shape, F f) {
  const cost before = of_home();
  apgas::finish(f);
  const cost after = of_home();
  const cost its{after.frames_out - before.frames_out, after.frames_in - before.frames_in,
                 after.messages - before.messages};
  std::printf("%s: %d frames out, %d in, %d messages\n", shape, static_cast<int>(its.frames_out),
              static_cast<int>(its.frames_in), static_cast<int>(its.messages));
  return its;
}

std::uint64_t others() { return static_cast<std::uint64_t>(apgas::num_places() - 1); }

TEST(finish_shapes, local_tasks_cost_nothing) {
  if (apgas::num_places() == 1) return;  // nothing leaves its home
  const cost its = cost_of("local", [] {
    for (int i = 0; i < 1000; ++i) apgas::async([] {});
  });
  EXPECT_EQ(its.frames_out + its.frames_in, 0U);
}

TEST(finish_shapes, one_remote_task_costs_one_return) {
  if (apgas::num_places() == 1) return;  // nothing leaves its home
  const cost its = cost_of("one remote task", [] { apgas::async_at(test::last(), [] {}); });
  EXPECT_EQ(its.frames_out, 1U);
  EXPECT_EQ(its.frames_in, 1U);
  EXPECT_EQ(its.messages, 2U);
}

TEST(finish_shapes, the_reply_of_an_at_carries_the_return) {
  if (apgas::num_places() == 1) return;  // nothing leaves its home
  const cost its = cost_of("at", [] {
    apgas::at(test::last(), [] {
      for (int i = 0; i < 1000; ++i) apgas::async([] {});
    });
  });
  EXPECT_EQ(its.frames_out, 1U);
  EXPECT_LE(its.frames_in, 2U);  // children may end after the body
}

TEST(finish_shapes, a_task_that_comes_back_shares_a_message_with_the_return) {
  if (apgas::num_places() == 1) return;  // nothing leaves its home
  const cost its = cost_of("there and back", [] {
    apgas::async_at(test::last(), [] { apgas::async_at(place(0), [] {}); });
  });
  EXPECT_EQ(its.frames_out, 1U);
  EXPECT_EQ(its.frames_in, 2U);
  EXPECT_LE(its.messages, 3U);  // 2, unless the return missed the message of the task
}

TEST(finish_shapes, one_task_at_each_place_costs_one_return_from_each) {
  if (apgas::num_places() == 1) return;  // nothing leaves its home
  const cost its = cost_of("one task per place", [] {
    for (const place p : apgas::places()) apgas::async_at(p, [] {});
  });
  EXPECT_EQ(its.frames_out, others());
  EXPECT_EQ(its.frames_in, others());
  EXPECT_EQ(its.messages, 2 * others());
}

}  // namespace
