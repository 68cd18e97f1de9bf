// SPDX-License-Identifier: Apache-2.0
// A program whose edges edges_test.py lists, on two places. Tasks wait for a finish, a phase of a
// clock, a mutex, a future, a team and a latch. With the argument "live", some of the tasks that
// they await run. It ends when its standard input does.
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
std::atomic<int> about_to_wait{0};  // at place 0
constexpr int all_wait = 7;

// Ends when the input has ended. In a live job it runs until then, once so many tasks wait.
void act(bool live, apgas::latch& gate, int waiting) {
  if (!live) return gate.wait();  // act
  while (about_to_wait < waiting) apgas::yield();
  for (int i = 0; i < 100; ++i) apgas::yield();
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
      act(live, gate, all_wait);
      return 1;
    });
    apgas::async([&] {  // holder
      const std::lock_guard hold(m);
      apgas::async([&] {  // locker
        ++about_to_wait;
        m.lock();  // lock
        m.unlock();
      });
      act(live, gate, all_wait);
    });
    apgas::async([value] {  // getter
      ++about_to_wait;
      static_cast<void>(value.get());  // get
    });
    for (int i = 0; i < 2; ++i) {
      apgas::async(apgas::clocked(c), [c] {  // advance
        ++about_to_wait;
        c.advance();  // phase
      });
    }
    apgas::async(apgas::clocked(c), [&] {  // late
      ++about_to_wait;
      gate.wait();  // late wait
      c.advance();
    });
    c.drop();
    apgas::async_at(apgas::place(1), [at_each, live] {  // remote
      act(live, at_each->gate, 0);
    });
    apgas::async_at(apgas::place(1), [] { apgas::team::world().barrier(); });  // barrier
    apgas::async(apgas::name("reader of the input"), [at_each] {
      ++about_to_wait;
      read_to_the_end();
      for (apgas::place p : apgas::places())
        apgas::at(p, [at_each] { at_each->gate.count_down(); });
      apgas::team::world().barrier();
    });
    // Otherwise this task would run the others on its stack, and not wait itself.
    while (about_to_wait < all_wait) apgas::yield();
  });
}

}  // namespace

int main(int argc, char** argv) {
  const bool live = argc > 1 && std::string_view(argv[1]) == "live";
  return apgas::run(argc, argv, [live] { wait_for_each_other(live); });
}
