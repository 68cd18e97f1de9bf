// SPDX-License-Identifier: Apache-2.0
// place and place_group as values.
#include <algorithm>
#include <sstream>
#include <thread>
#include <unordered_set>
#include <vector>

#include <gtest/gtest.h>

#include "check.hpp"

namespace {

using apgas::place;
using apgas::place_group;
using test::check;

TEST(place, is_a_value) {
  EXPECT_EQ(place(), place(0));
  EXPECT_EQ(apgas::here(), place(0));
  EXPECT_EQ(place() < test::last(), apgas::num_places() > 1);
  EXPECT_EQ(std::unordered_set<place>(apgas::places().begin(), apgas::places().end()).size(),
            static_cast<std::size_t>(apgas::num_places()));
  EXPECT_EQ((std::ostringstream() << test::last()).str(),
            "place(" + std::to_string(apgas::num_places() - 1) + ")");
}

TEST(place, throws_if_it_does_not_exist) {
  EXPECT_THROW(static_cast<void>(place(apgas::num_places())), apgas::bad_place);
  EXPECT_THROW(place(-1), apgas::bad_place);
  try {
    static_cast<void>(place(1000));
    FAIL();
  } catch (const apgas::bad_place& e) {
    EXPECT_NE(std::string(e.what()).find("place 1000"), std::string::npos) << e.what();
  }
}

TEST(place, throws_outside_a_task) {
  std::thread foreign([] {
    EXPECT_THROW(apgas::here(), apgas::illegal_operation);
    EXPECT_THROW(apgas::places(), apgas::illegal_operation);
    EXPECT_THROW(apgas::num_workers(), apgas::illegal_operation);
    EXPECT_THROW(place(1), apgas::illegal_operation);
    EXPECT_THROW(apgas::at(place(), [] {}), apgas::illegal_operation);
    EXPECT_THROW(apgas::async_at(place(), [] {}), apgas::illegal_operation);
    EXPECT_THROW(apgas::async_future_at(place(), [] {}), apgas::illegal_operation);
    EXPECT_THROW(apgas::make_global(1), apgas::illegal_operation);
    EXPECT_EQ(place(0), place());
  });
  foreign.join();
}

TEST(place, range_is_a_random_access_range) {
  const auto all = apgas::places();
  static_assert(std::ranges::random_access_range<decltype(all)>);
  int expected = 0;
  for (place p : all) EXPECT_EQ(p.id(), expected++);
  EXPECT_EQ(expected, apgas::num_places());
  EXPECT_EQ(all[all.size() - 1], test::last());
}

TEST(place, workers_and_hosts_are_known_everywhere) {
  for (place p : apgas::places()) {
    apgas::at(p, [] {
      check(apgas::num_workers() >= 1);
      check(apgas::worker_id() >= 0 && apgas::worker_id() < apgas::num_workers());
      check(!apgas::here().host().empty());
      check(place::same_node(apgas::here(), place()) == (apgas::here().host() == place().host()));
    });
  }
}

TEST(place_group, of_all_places) {
  const place_group world = apgas::places();
  EXPECT_EQ(world.size(), static_cast<std::size_t>(apgas::num_places()));
  EXPECT_TRUE(std::ranges::equal(world, apgas::places()));
  EXPECT_EQ(world, place_group(apgas::places().begin(), apgas::places().end()));
  for (place p : world) {
    EXPECT_TRUE(world.contains(p));
    EXPECT_EQ(world.index_of(p), static_cast<std::size_t>(p.id()));
    EXPECT_EQ(world.next(p), test::next(p));
    EXPECT_EQ(world.prev(world.next(p)), p);
  }
  for (place p : world) {
    EXPECT_EQ(world.same_node().contains(p), p.host() == apgas::here().host());
  }
}

TEST(place_group, keeps_the_order_given) {
  std::vector<place> backwards(apgas::places().begin(), apgas::places().end());
  std::ranges::reverse(backwards);
  const place_group group(backwards);
  EXPECT_TRUE(std::ranges::equal(group, backwards));
  EXPECT_EQ(group[0], test::last());
  EXPECT_EQ(group.index_of(test::last()), 0U);
  EXPECT_EQ(group.next(group[group.size() - 1]), group[0]);
  EXPECT_EQ(group.prev(group[0]), place());
  EXPECT_EQ(group == place_group(apgas::places()), apgas::num_places() == 1);
}

TEST(place_group, throws_on_misuse) {
  EXPECT_THROW(place_group({place(), place()}), apgas::bad_place);
  const place_group none;
  EXPECT_TRUE(none.empty());
  EXPECT_FALSE(none.contains(place()));
  EXPECT_THROW(none.index_of(place()), apgas::bad_place);
  EXPECT_THROW(none.next(place()), apgas::bad_place);
  EXPECT_THROW(none[0], apgas::bad_place);
  const place_group only_last{test::last()};
  EXPECT_EQ(only_last.size(), 1U);
  EXPECT_EQ(only_last.next(test::last()), test::last());
  EXPECT_EQ(only_last.contains(place()), apgas::num_places() == 1);
}

TEST(place_group, can_be_sent) {
  std::vector<place> odd;
  for (place p : apgas::places()) {
    if (p.id() % 2 == 1) odd.push_back(p);
  }
  const place_group group(odd);
  for (place p : apgas::places()) {
    const auto back = apgas::at(
        p,
        [](const place_group& g) {
          for (place member : g) check(member.id() % 2 == 1);
          return g;
        },
        group);
    EXPECT_EQ(back, group);
  }
}

}  // namespace
