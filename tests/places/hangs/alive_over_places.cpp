// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <thread>
#include <vector>

#include <apgas/apgas.hpp>

#include "around_places.hpp"
#include "cases.hpp"

// Programs over several places in which no task runs for a while, or one for a long time, and that
// end.
namespace apgas::test {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

template <class F>
void at_last(F f) {
  at(last(), f);
}

void sleep_elsewhere() {
  at_last([] { sleep_for(2500ms); });
}

void timed_wait_elsewhere() {
  at_last([] { timed_wait(); });
}

void blocking_elsewhere() {
  at_last([] { blocking_call(); });
}

void thread_elsewhere() {
  at_last([] { thread_of_the_program(); });
}

void computation_elsewhere() {
  at_last([] {
    const auto end = steady::now() + 2500ms;
    while (steady::now() < end) {
    }
  });
}

void computation_here() {
  finish([] {
    async_at(last(), [] { sleep_for(100ms); });
    const auto end = steady::now() + 2500ms;
    while (steady::now() < end) {
    }
  });
}

void late_team_member() {
  finish([] {
    for (const place p : places()) {
      async_at(p, [] {
        if (here() == last()) sleep_for(2500ms);
        team::world().barrier();
      });
    }
  });
}

// The last place calls the barrier after an at to a place that waits in it.
void late_team_member_after_at() {
  finish([] {
    for (const place p : places()) {
      async_at(p, [] {
        if (here() == last()) at(places()[0], [] { sleep_for(2500ms); });
        team::world().barrier();
      });
    }
  });
}

void slow_clock() {
  finish([] {
    const auto c = clock::make();
    for (const place p : places()) {
      async_at(p, clocked(c), [c] {
        for (int i = 0; i < 3; ++i) {
          if (here() == last()) blocking([] { std::this_thread::sleep_for(1200ms); });
          c.advance();
        }
      });
    }
  });
}

void long_messages() {
  std::vector<std::byte> bytes(std::size_t{8} << 20);
  for (const auto end = steady::now() + 2500ms; steady::now() < end;) {
    bytes = at(last(), [](std::vector<std::byte> all) { return all; }, bytes);
  }
}

// Many short sleeps at alternating places, each shorter than the patience.
void pauses_to_and_fro() {
  for (int i = 0; i < 12; ++i) {
    sleep_for(100ms);
    at_last([] { blocking([] { std::this_thread::sleep_for(100ms); }); });
  }
}

// A task at the last place waits for a message that the first place sends late.
latch& message_at_last() {
  static latch come(1);
  return come;
}
void late_message() {
  finish([] {
    async_at(last(), [] { message_at_last().wait(); });
    sleep_for(2500ms);
    async_at(last(), [] { message_at_last().count_down(); });
  });
}

void round_trip() {
  finish([] { pass_around(50); });
}

}  // namespace

std::vector<hang_case> alive_over_places() {
  return {{"sleep_elsewhere", sleep_elsewhere},
          {"timed_wait_elsewhere", timed_wait_elsewhere},
          {"blocking_elsewhere", blocking_elsewhere},
          {"thread_elsewhere", thread_elsewhere},
          {"computation_elsewhere", computation_elsewhere},
          {"computation_here", computation_here},
          {"late_team_member", late_team_member},
          {"late_team_member_after_at", late_team_member_after_at},
          {"slow_clock", slow_clock},
          {"long_messages", long_messages},
          {"pauses_to_and_fro", pauses_to_and_fro},
          {"late_message", late_message},
          {"round_trip", round_trip}};
}

}  // namespace apgas::test
