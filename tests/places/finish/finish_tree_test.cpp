// SPDX-License-Identifier: Apache-2.0
// Places that a finish has reached along a tree of spawns return along the same tree
// (APGAS_FINISH_TREE=2). The home receives returns only from its own children, but exceptions and
// offers of all places.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <stdexcept>

#include <gtest/gtest.h>

#include <apgas/sync/place_state.hpp>
#include <apgas/sync/remote_finish.hpp>

#include "check.hpp"

namespace {

using apgas::place;

std::uint64_t returns_to(place p) {
  return apgas::at(p, [] {
    return apgas::sync::place_of(*apgas::scheduler::current_fiber()).finishes->count().returns_in;
  });
}

// A binary tree of all places. Each task spawns its children before it visits its own place.
enum class visit : std::uint8_t { nothing, fails, offers };
struct subtree {
  visit what;
  void operator()() const {
    const int here = apgas::here().id();
    for (const int child : {2 * here + 1, 2 * here + 2}) {
      if (child < apgas::num_places()) apgas::async_at(place(child), *this);
    }
    if (what == visit::fails) throw std::runtime_error(std::to_string(here));
    if (what == visit::offers) apgas::offer(static_cast<long>(here) + 1);
  }
};

std::uint64_t children_of(int place_id) {
  const int beyond = apgas::num_places() - (2 * place_id + 1);
  return static_cast<std::uint64_t>(std::clamp(beyond, 0, 2));
}

TEST(finish_tree, the_home_receives_returns_of_its_children) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t before = returns_to(place(0));
    apgas::finish([] { subtree{visit::nothing}(); });
    EXPECT_EQ(returns_to(place(0)) - before, children_of(0));
  }
}

TEST(finish_tree, a_parent_receives_returns_of_its_children) {
  if (apgas::num_places() == 1) return;
  const std::uint64_t before = returns_to(place(1));
  apgas::finish([] { subtree{visit::nothing}(); });
  EXPECT_EQ(returns_to(place(1)) - before, children_of(1));
}

TEST(finish_tree, exceptions_arrive) {
  try {
    apgas::finish([] { subtree{visit::fails}(); });
    FAIL() << "nothing was thrown";
  } catch (const apgas::multiple_exceptions& all) {
    long sum = 0;
    for (const apgas::task_exception& one : all) {
      try {
        std::rethrow_exception(one.exception());
      } catch (const std::runtime_error& e) {
        EXPECT_EQ(e.what(), std::to_string(one.place_id()));
        sum += one.place_id();
      }
    }
    EXPECT_EQ(all.size(), static_cast<std::size_t>(apgas::num_places()));
    EXPECT_EQ(sum, apgas::num_places() * (apgas::num_places() - 1L) / 2);
  }
}

TEST(finish_tree, offers_arrive) {
  const long sum = apgas::finish_reduce(0L, std::plus<>(), [] { subtree{visit::offers}(); });
  EXPECT_EQ(sum, apgas::num_places() * (apgas::num_places() + 1L) / 2);
}

// Places spawn tasks at each other again and again while they already take part.
TEST(finish_tree, goes_from_all_places_to_all) {
  struct spread {
    int depth;
    void operator()() const {
      if (depth == 0) return;
      for (const place p : apgas::places()) apgas::async_at(p, spread{depth - 1});
    }
  };
  const int depth = apgas::num_places() > 16 ? 2 : 3;
  for (int round = 0; round < 20; ++round) {
    apgas::finish([depth] { spread{depth}(); });
  }
}

}  // namespace
