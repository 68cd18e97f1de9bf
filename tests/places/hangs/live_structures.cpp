// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <deque>
#include <vector>

#include <apgas/apgas.hpp>

#include "live.hpp"

namespace apgas::test {
namespace {

using namespace std::chrono_literals;

constexpr auto late = 2500ms;  // in virtual time

// A clock one of whose tasks is slow in each phase.
void slow_clock() {
  const auto c = clock::make();
  finish([&] {
    for (int i = 0; i < 4; ++i) {
      async(clocked(c), [c, i] {
        for (int p = 0; p < 3; ++p) {
          if (i == p) sleep_for(late);
          c.advance();
        }
      });
    }
    c.drop();
  });
}

// A producer that signals a phaser rarely.
void slow_phaser() {
  finish([] {
    const phaser ph;
    for (int i = 0; i < 3; ++i) {
      async(phased(ph, phaser_mode::wait), [ph] {
        for (int p = 0; p < 3; ++p) ph.wait();
      });
    }
    for (int p = 0; p < 3; ++p) {
      sleep_for(late);
      ph.signal();
      ph.wait();
    }
    ph.drop();
  });
}

// A pipeline of channels with a slow stage.
void pipeline() {
  channel<int> in(1);
  channel<int> out(1);
  finish([&] {
    async([&] {
      for (int i = 0; i < 3; ++i) in.send(i);
      in.close();
    });
    async([&] {
      while (const auto n = in.receive()) {
        sleep_for(late);
        out.send(*n);
      }
      out.close();
    });
    while (out.receive()) {
    }
  });
}

// A token that goes around a ring of tasks.
void ring() {
  constexpr std::size_t members = 4;
  std::deque<semaphore> turns;
  for (std::size_t i = 0; i < members; ++i) turns.emplace_back(0);
  finish([&] {
    for (std::size_t i = 0; i < members; ++i) {
      async([&, i] {
        for (int round = 0; round < 2; ++round) {
          turns[i].acquire();
          if (i == 0) sleep_for(late);
          turns[(i + 1) % members].release();
        }
      });
    }
    turns[0].release();
  });
}

// Futures that wait for each other in a chain, the last of them for a time.
void chain_of_futures() {
  auto last = async_future([] {
    sleep_for(late);
    return 1;
  });
  for (int i = 0; i < 4; ++i) {
    last = async_future([last] { return last.get() + 1; });
  }
  last.get();
}

// A finish inside a branch inside a finish.
void nested_finishes() {
  finish([] {
    async([] {
      fork_join(
          [] {
            finish([] { async([] { sleep_for(late); }); });
            return 0;
          },
          [] {
            sleep_for(late / 2);
            return 0;
          });
    });
  });
}

// A loop one of whose iterations is slow.
void loop_with_a_slow_iteration() {
  coforall(0, 6, [](int i) {
    if (i == 3) sleep_for(late);
  });
}

// So many tasks that the deque is drained.
void many_tasks() {
  finish([] {
    for (int i = 0; i < 400; ++i) {
      async([i] {
        if (i % 100 == 0) sleep_for(late);
      });
    }
  });
}

// A task that yields until another one is ready.
void yields() {
  bool done = false;
  finish([&] {
    async([&] {
      sleep_for(late);
      done = true;
    });
    while (!done) yield();
  });
}

apgas::task<int> slow_value(future<int> from) { co_return co_await from + 1; }

// A coroutine that waits for a task.
void coroutine() {
  const auto from = async_future([] {
    sleep_for(late);
    return 1;
  });
  sync_wait(slow_value(from));
}

// Readers of a value that is written once and late.
void value_for_many() {
  single_var<int> v;
  finish([&] {
    for (int i = 0; i < 4; ++i) async([&] { v.read_ff(); });
    sleep_for(late);
    v.write_ef(1);
  });
}

// A message of the place to itself, and a slow answer.
void call_of_this_place() {
  at(here(), [] { sleep_for(late); });
  finish([] { async_at(here(), [] { sleep_for(late); }); });
}

}  // namespace

std::vector<hang_case> live_structures() {
  return {{"slow_clock", slow_clock},
          {"slow_phaser", slow_phaser},
          {"pipeline", pipeline},
          {"ring", ring},
          {"chain_of_futures", chain_of_futures},
          {"nested_finishes", nested_finishes},
          {"loop_with_a_slow_iteration", loop_with_a_slow_iteration},
          {"many_tasks", many_tasks},
          {"yields", yields},
          {"coroutine", coroutine},
          {"value_for_many", value_for_many},
          {"call_of_this_place", call_of_this_place}};
}

}  // namespace apgas::test
