// SPDX-License-Identifier: Apache-2.0
// async_at to a group runs once at each place, with one frame for each place, and no place sends to
// all others.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/sync/place_state.hpp>

#include "check.hpp"

namespace {

using apgas::async_at;
using apgas::at;
using apgas::place;
using apgas::place_group;

std::atomic<int> runs{0};  // one for each process; with the transport local, one for all places

std::uint64_t frames_sent(place by) {
  return at(by, [] {
    auto& state = apgas::sync::place_of(*apgas::scheduler::current_fiber());
    return state.endpoint->total_traffic().frames_sent;
  });
}

TEST(async_at_group, runs_once_at_each_place) {
  const auto seen = apgas::place_local<std::atomic<int>>::make(apgas::places(), [] { return 0; });
  for (int round = 1; round <= 20; ++round) {
    apgas::finish([seen] { async_at(apgas::places(), [seen] { ++*seen; }); });
    for (place p : apgas::places()) EXPECT_EQ(at(p, [seen] { return seen->load(); }), round);
  }
  apgas::finish([seen] { async_at(place_group({test::last()}), [seen] { *seen = -1; }); });
  EXPECT_EQ(at(test::last(), [seen] { return seen->load(); }), -1);
  apgas::finish([] { async_at(place_group(), [] { ++runs; }); });
  EXPECT_EQ(runs.load(), 0);
  seen.destroy();
}

TEST(async_at_group, passes_arguments_on) {
  std::vector<place> all(apgas::places().begin(), apgas::places().end());
  std::ranges::reverse(all);
  apgas::finish([&] {
    async_at(
        place_group(all),
        [](std::string text, std::vector<int>& numbers) {
          test::check(text == std::string(1000, 'x') && numbers == std::vector<int>{1, 2, 3});
        },
        std::string(1000, 'x'), std::vector<int>{1, 2, 3});
  });
}

TEST(async_at_group, exceptions_reach_the_finish) {
  try {
    apgas::finish([] { async_at(apgas::places(), [] { throw std::runtime_error("here"); }); });
    FAIL();
  } catch (const apgas::multiple_exceptions& several) {
    EXPECT_EQ(several.size(), static_cast<std::size_t>(apgas::num_places()));
    for (const auto& e : several) {
      EXPECT_TRUE(std::string(e.site().file).find("group_test.cpp") != std::string::npos);
    }
  }
}

// The number of frames that each place sends while f runs in a finish, and while this function
// counts.
template <class F>
std::vector<std::uint64_t> frames_during(F f) {
  std::vector<std::uint64_t> sent;
  for (place p : apgas::places()) sent.push_back(frames_sent(p));
  apgas::finish(f);
  for (place p : apgas::places()) {
    auto& of_p = sent[static_cast<std::size_t>(p.id())];
    of_p = frames_sent(p) - of_p;
  }
  return sent;
}

// Each place gets a task, and each other place sends a return of the finish. The frames of counting
// are subtracted. Over several hosts a place may send one frame more.
TEST(async_at_group, costs_a_frame_to_each_place) {
  const auto n = static_cast<std::uint64_t>(apgas::num_places());
  const bool one_host = place_group(apgas::places()).same_node().size() == n;
  const std::size_t most = static_cast<std::size_t>(std::bit_width(n)) + (one_host ? 0U : 1U);
  const std::vector<std::uint64_t> counting = frames_during([] {});
  std::vector<std::uint64_t> sent = frames_during([] { async_at(apgas::places(), [] {}); });
  std::uint64_t all = 0;
  for (std::size_t p = 0; p < n; ++p) {
    sent[p] -= counting[p];
    all += sent[p];
    EXPECT_LE(sent[p], most + (p == 0 ? 0U : 1U)) << "of place " << p;
  }
  EXPECT_EQ(all, n + n - 1);
}

}  // namespace
