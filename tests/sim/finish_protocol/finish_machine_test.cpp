// SPDX-License-Identifier: Apache-2.0 Tests the state machines of the remote finish protocol by
// themselves: sizes, cost, limits, and the assertions that guard each event.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include <apgas/sync/finish_protocol.hpp>

namespace {

std::size_t allocations = 0;

}  // namespace

// Not inlined, because g++ would consider malloc and delete a mismatched pair.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
  std::free(memory);
}

namespace {

using apgas::sync::credit_sum;
using apgas::sync::finish_home;
using apgas::sync::full_share;
using apgas::sync::most_splits;
using apgas::sync::next_share;
using apgas::sync::remote_finish_state;
using apgas::sync::returned_credit;
using apgas::sync::tree_return;

TEST(finish_machine, sizes) {
  EXPECT_LE(sizeof(finish_home), 32U);
  EXPECT_LE(sizeof(remote_finish_state), 48U);
  EXPECT_EQ(sizeof(returned_credit), 24U);
}

TEST(finish_machine, events_allocate_nothing) {
  const std::size_t before = allocations;
  finish_home home;
  bool done = false;
  for (int i = 0; i < 1000; ++i) {
    remote_finish_state remote;
    remote.on_arrival(home.mint(1).share, true);
    EXPECT_TRUE(remote.split().ask);
    remote.on_grant(home.on_request().share);
    const auto split = remote.next_waiting();
    remote.on_idle();
    EXPECT_FALSE(home.on_return(remote.give_back()));
    done = home.on_arrival(split.share);
  }
  const std::size_t after = allocations;
  EXPECT_EQ(after, before);
  EXPECT_TRUE(done);
  EXPECT_GT(allocations, 0U) << "the counting operator new is not in use";
}

TEST(finish_machine, home_says_when_to_take_and_release_a_count) {
  finish_home home;
  const auto first = home.mint();
  EXPECT_TRUE(first.takes_count);
  const auto second = home.mint();
  EXPECT_FALSE(second.takes_count);
  EXPECT_FALSE(home.on_arrival(first.share));
  EXPECT_TRUE(home.on_arrival(second.share));
  EXPECT_TRUE(home.mint().takes_count);
}

// A flood makes a pool of more than 64 bits, which is given back in one message.
TEST(finish_machine, a_pool_of_more_than_64_bits) {
  finish_home home;
  remote_finish_state remote;
  for (int i = 0; i < 1'000'000; ++i) remote.on_arrival(home.mint().share, i == 0);
  EXPECT_EQ(remote.pool(), static_cast<credit_sum>(full_share) * 1'000'000);
  EXPECT_EQ(remote.split().share, full_share);  // no share is larger than a full one
  remote.on_arrival(full_share, false);
  remote.on_idle();
  const returned_credit all = remote.give_back();
  EXPECT_GT(all.high, 0U);
  EXPECT_TRUE(remote.empty());
  EXPECT_TRUE(home.on_return(all));
}

TEST(finish_machine, shares) {
  static_assert(next_share(1, 0) == 0);
  static_assert(next_share(2, 0) == 1);
  static_assert(next_share(full_share, 0) == full_share / 2);
  static_assert(next_share(full_share, 1) == full_share / 4);
  static_assert(next_share(full_share, most_splits) == full_share >> 16);
  static_assert(next_share(full_share, 0xffffffff) == full_share >> 16);

  // Five generations of a hundred children each can do without a request.
  credit_sum last = full_share;
  for (int generation = 0; generation < 5; ++generation) {
    credit_sum pool = last;
    for (std::uint32_t child = 0; child < 100; ++child) pool -= last = next_share(pool, child);
    ASSERT_GT(last, 0U) << generation;
  }

  // A place that only sends asks once in more than a million and a half sends.
  remote_finish_state remote;
  remote.on_arrival(full_share, true);
  int sent = 0;
  while (remote.split().share != 0) ++sent;
  EXPECT_GT(sent, 1'500'000);
}

TEST(finish_machine, frames_wait_in_order_and_one_request_is_enough) {
  remote_finish_state remote;
  remote.on_arrival(1, true);
  EXPECT_TRUE(remote.split().ask);
  EXPECT_FALSE(remote.split().ask);
  remote.on_arrival(full_share, false);
  EXPECT_EQ(remote.split().share, 0U) << "overtakes frames that wait";
  remote.on_idle();
  EXPECT_FALSE(remote.quiescent());
  remote.on_grant(full_share);
  for (int i = 0; i < 3; ++i) EXPECT_GT(remote.next_waiting().share, 0U);
  EXPECT_TRUE(remote.quiescent());
}

TEST(finish_machine, a_frame_that_comes_between_grant_and_drain_joins_the_drain) {
  remote_finish_state remote;
  remote.on_arrival(1, true);
  EXPECT_TRUE(remote.split().ask);
  remote.on_grant(full_share);
  const auto late = remote.split();
  EXPECT_EQ(late.share, 0U);
  EXPECT_FALSE(late.ask);
  remote.on_idle();
  EXPECT_FALSE(remote.quiescent());
  EXPECT_GT(remote.next_waiting().share, 0U);
  EXPECT_GT(remote.next_waiting().share, 0U);
  EXPECT_TRUE(remote.quiescent());
}

TEST(finish_machine, an_escaping_spawn_needs_no_task_here) {
  finish_home home;
  remote_finish_state remote;
  EXPECT_TRUE(remote.split_escaping().ask);
  EXPECT_FALSE(remote.quiescent());
  const auto grant = home.on_request();
  EXPECT_TRUE(grant.takes_count);
  remote.on_grant(grant.share);
  const auto sent = remote.next_waiting();
  EXPECT_TRUE(remote.quiescent());
  EXPECT_FALSE(home.on_return(remote.give_back()));
  EXPECT_TRUE(home.on_arrival(sent.share));
}

using finish_machine_death = testing::Test;

TEST(finish_machine, a_return_releases_the_links_of_the_parent) {
  tree_return place;
  EXPECT_EQ(place.on_arrival(true, 5, 3, 2), 0);   // two frames in one message from place 5
  EXPECT_EQ(place.on_arrival(false, 7, 1, 1), 1);  // from another place, so released at once
  EXPECT_EQ(place.on_arrival(false, 5, 9, 1), 0);
  EXPECT_EQ(place.on_arrival(false, 8, 0, 0), 0);
  EXPECT_EQ(place.link(), 4);
  place.on_release(1);
  EXPECT_TRUE(place.linked());
  const tree_return::target to = place.give_back();
  EXPECT_EQ(to.place, 5);
  EXPECT_EQ(to.links, 3);
  EXPECT_TRUE(place.empty());
}

TEST(finish_machine, links_are_limited_in_number_and_level) {
  tree_return place;
  EXPECT_EQ(place.on_arrival(true, 1, 0, 0), 0);  // not linked, so the place returns home
  for (std::uint8_t i = 0; i < tree_return::links_max; ++i) EXPECT_EQ(place.link(), 1);
  EXPECT_EQ(place.link(), 0);
  place.on_release(tree_return::links_max);
  EXPECT_EQ(place.link(), 0);  // no more links before the place has returned
  EXPECT_EQ(place.give_back().place, tree_return::to_home);
  EXPECT_EQ(place.on_arrival(true, 1, tree_return::levels_max, 1), 0);
  EXPECT_EQ(place.link(), 0);
}

TEST(finish_machine_death, links) {
  tree_return place;
  EXPECT_DEATH(place.on_release(1), "a link is released that was never made");
  EXPECT_EQ(place.link(), 1);
  EXPECT_DEATH(static_cast<void>(place.give_back()), "a place returns before its children");
  EXPECT_DEATH(static_cast<void>(place.on_arrival(true, 1, 1, 1)), "has links and no credit");
  remote_finish_state gone;
  EXPECT_DEATH(gone.on_return({1, 0, 0}), "a place is gone before a child that is linked to it");
}

TEST(finish_machine_death, home) {
  finish_home home;
  EXPECT_DEATH((void)home.on_arrival(1), "got back more credit than it issued");
  const auto share = home.mint().share;
  EXPECT_DEATH((void)home.on_arrival(0), "came without credit");
  EXPECT_DEATH((void)home.on_return({share, 1, -1}), "got back more credit than it issued");
  EXPECT_DEATH((void)home.on_return({share, 0, 0}), "not all task frames were received");
  EXPECT_DEATH((void)home.mint(0), "never empty");
}

TEST(finish_machine_death, remote) {
  remote_finish_state remote;
  EXPECT_DEATH(remote.on_arrival(0, true), "came without credit");
  EXPECT_DEATH(remote.on_arrival(1, false), "nothing counts it");
  EXPECT_DEATH(remote.on_arrival(2, true, 3), "came without credit");
  EXPECT_DEATH(remote.on_reply({1, 0, 0}), "no task waits for it");
  EXPECT_DEATH((void)remote.split(), "where none is");
  EXPECT_DEATH(remote.on_grant(1), "not asked for");
  EXPECT_DEATH((void)remote.next_waiting(), "before the grant");
  EXPECT_DEATH(remote.on_idle(), "more tasks ended");
  EXPECT_DEATH((void)remote.give_back(), "still needs it");
  remote.on_arrival(1, true);
  EXPECT_DEATH((void)remote.give_back(), "still needs it");
  EXPECT_DEATH(remote.on_reply({0, 0, 0}), "no credit");
  (void)remote.split();
  EXPECT_DEATH(remote.on_grant(0), "never empty");
  remote.on_idle();
  EXPECT_DEATH((void)remote.give_back(), "still needs it");
}

}  // namespace
