// SPDX-License-Identifier: Apache-2.0
// A program whose edges edges_test.py lists, on two places. Tasks wait for a finish, a phase of a
// clock, a mutex, a future, a team and a latch. With the argument "live", some of the tasks that
// they await run: two at place 0 and one at place 1. With "many", 25,000 tasks of each place wait
// for its latch, and as many for an `at` at the other one. It ends when its standard input does.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <string_view>

#include <unistd.h>

#include <apgas/apgas.hpp>

namespace {

struct waiting_place {
  apgas::latch gate{1};
};
using gates = apgas::place_local<waiting_place>;

std::atomic<bool> over{false};
std::atomic<int> begun{0};  // tasks that main has spawned at place 0, directly or not
constexpr int spawned = 8;

// Ends when the input has ended.
void act(bool live, apgas::latch& gate) {
  if (!live) return gate.wait();  // act
  while (!over.load(std::memory_order_relaxed)) {
  }
}

void read_to_the_end() {
  apgas::blocking([] {
    std::puts("ready");
    std::fflush(stdout);
    char c = 0;
    while (read(STDIN_FILENO, &c, 1) == 1) {
    }
    over = true;
  });
}

void wait_for_each_other(bool live) {
  const auto at_each = gates::make(apgas::places(), [] { return waiting_place(); });
  apgas::latch& gate = at_each->gate;
  apgas::mutex m;
  const auto c = apgas::clock::make();            // clock made
  apgas::finish([&] {                             // finish
    const auto value = apgas::async_future([&] {  // computing
      ++begun;
      act(live, gate);
      return 1;
    });
    apgas::async([&] {  // holder
      ++begun;
      const std::lock_guard hold(m);
      apgas::async([&] {  // locker
        ++begun;
        m.lock();  // lock
        m.unlock();
      });
      act(live, gate);
    });
    apgas::async([value] {  // getter
      ++begun;
      static_cast<void>(value.get());  // get
    });
    for (int i = 0; i < 2; ++i) {
      apgas::async(apgas::clocked(c), [c] {  // advance
        ++begun;
        c.advance();  // phase
      });
    }
    apgas::async(apgas::clocked(c), [&] {  // late
      ++begun;
      gate.wait();  // late wait
      c.advance();
    });
    c.drop();
    apgas::async_at(apgas::place(1), [at_each, live] { act(live, at_each->gate); });  // remote
    apgas::async_at(apgas::place(1), [] { apgas::team::world().barrier(); });         // barrier
    apgas::async(apgas::name("reader of the input"), [at_each] {
      ++begun;
      read_to_the_end();
      for (apgas::place p : apgas::places())
        apgas::at(p, [at_each] { at_each->gate.count_down(); });
      apgas::team::world().barrier();
    });
    // Tasks that have not begun would run on the stack of this one, in its finish.
    while (begun < spawned) apgas::yield();
  });
}

void many_wait() {
  constexpr int tasks = 25'000;
  const auto at_each = gates::make(apgas::places(), [] { return waiting_place(); });
  apgas::finish([&] {
    for (apgas::place p : apgas::places()) {
      apgas::async_at(p, [at_each] {
        const apgas::place other(1 - apgas::here().id());
        for (int i = 0; i < tasks; ++i) {
          apgas::async([at_each] { at_each->gate.wait(); });  // one of many
          apgas::async([=] { apgas::at(other, [at_each] { at_each->gate.wait(); }); });  // caller
        }
      });
    }
    read_to_the_end();
    for (apgas::place p : apgas::places()) apgas::at(p, [at_each] { at_each->gate.count_down(); });
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  return apgas::run(argc, argv, [mode] {
    if (mode == "many") return many_wait();
    wait_for_each_other(mode == "live");
  });
}
