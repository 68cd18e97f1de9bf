// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include <apgas/apgas.hpp>

#include "around_places.hpp"
#include "live.hpp"

namespace apgas::test {
namespace {

using namespace std::chrono_literals;

constexpr auto late = 3s;       // of virtual time: teams stop their timers sooner
constexpr auto moment = 200us;  // of a call that blocks

template <class F>
void at_each(F f) {
  finish([f] {
    for (const place p : places()) async_at(p, f);
  });
}

void sleep_elsewhere() {
  at(last(), [] { sleep_for(late); });
}

void call_that_blocks_elsewhere() {
  at(last(), [] { blocking([] { std::this_thread::sleep_for(moment); }); });
}

void future_of_a_sleeper() {
  future<int> f = async_future_at(last(), [] {
    sleep_for(late);
    return 1;
  });
  f.get();
}

void last_to_a_barrier() {
  at_each([] {
    if (here() == last()) sleep_for(late);
    team::world().barrier();
  });
}

void first_to_a_barrier() {
  at_each([] {
    if (here() != last()) sleep_for(late);
    team::world().barrier();
  });
}

void turns_to_be_last() {
  at_each([] {
    for (int i = 0; i < 6; ++i) {
      if (i % static_cast<int>(places().size()) == here().id()) sleep_for(late);
      team::world().allreduce(i, std::plus<>());
    }
  });
}

void barrier_after_an_at() {
  at_each([] {
    if (here() == last()) at(places()[0], [] { sleep_for(late); });
    team::world().barrier();
  });
}

void two_teams_one_after_the_other() {
  const team one{place_group(places())};
  const team other{place_group(places())};
  at_each([one, other] {
    if (here() == last()) sleep_for(late);
    one.barrier();
    if (here().id() == 0) sleep_for(late);
    other.barrier();
  });
}

void clock_with_a_late_place() {
  finish([] {
    const auto c = clock::make();
    for (const place p : places()) {
      async_at(p, clocked(c), [c] {
        for (int i = 0; i < 3; ++i) {
          if (here() == last()) sleep_for(late);
          c.advance();
        }
      });
    }
  });
}

void chain_with_pauses() {
  finish([] { pass_around(12); });
}

}  // namespace

std::vector<hang_case> live_over_places() {
  return {{"sleep_elsewhere", sleep_elsewhere},
          {"call_that_blocks_elsewhere", call_that_blocks_elsewhere},
          {"future_of_a_sleeper", future_of_a_sleeper},
          {"last_to_a_barrier", last_to_a_barrier},
          {"first_to_a_barrier", first_to_a_barrier},
          {"turns_to_be_last", turns_to_be_last},
          {"barrier_after_an_at", barrier_after_an_at},
          {"two_teams_one_after_the_other", two_teams_one_after_the_other},
          {"clock_with_a_late_place", clock_with_a_late_place},
          {"chain_with_pauses", chain_with_pauses}};
}

}  // namespace apgas::test
