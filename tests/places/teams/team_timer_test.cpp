// SPDX-License-Identifier: Apache-2.0
// The timer that looks for members which wait for a long time finds each of them.
#include <algorithm>
#include <chrono>
#include <memory>

#include <gtest/gtest.h>

#include <apgas/places/remote_teams.hpp>
#include <apgas/sync/place_state.hpp>

#include "check.hpp"

namespace {

using apgas::place;
using apgas::team;
using apgas::remote::remote_teams;
using namespace std::chrono_literals;

// A member waits while the others have not made the call, and they make it only when the timer is
// set. Since it expires all the time, it sometimes does so just when the member begins to wait.
void expect_looks(const team& t) {
  remote_teams& teams = apgas::remote::teams_of(*apgas::scheduler::current_fiber());
  const auto looks = [&] {
    const auto waits = [](const auto& each) { return each.waits; };
    return std::ranges::any_of(teams.for_report(), waits) && teams.timer_set();
  };
  const auto usual = [&teams](const void*) { teams.set_patience(100ms); };
  const std::unique_ptr<const remote_teams, decltype(usual)> restore(&teams, usual);
  teams.set_patience(10us);
  const auto end = std::chrono::steady_clock::now() + 1s;
  while (std::chrono::steady_clock::now() < end && !testing::Test::HasFailure()) {
    apgas::finish([&] {
      apgas::async([&] {
        const auto latest = std::chrono::steady_clock::now() + 30s;
        bool seen = looks();
        while (!seen && std::chrono::steady_clock::now() < latest) {
          apgas::yield();
          seen = looks();
        }
        EXPECT_TRUE(seen);
        for (const place p : apgas::places()) {
          if (p == apgas::here()) continue;
          apgas::async_at(p, [](const team& same) { same.barrier(); }, t);
        }
      });
      t.barrier();
    });
  }
}

TEST(team_timer, looks_at_each_member_that_waits) {
  // With a seed the looks end when they find nothing new.
  if (apgas::num_places() == 1 || apgas::scheduler::has_virtual_time()) return;
  expect_looks(team::world());
}

}  // namespace
