// SPDX-License-Identifier: Apache-2.0
// Programs that hang or compute for long, for the page about hangs.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string_view>

#include <apgas/apgas.hpp>

namespace {

// One task waits for a semaphore, and keeps two others from their phase.
void relax() {
  const auto c = apgas::clock::make();
  apgas::semaphore turn(0);
  apgas::finish([&] {
    for (int i = 0; i < 3; ++i) {
      apgas::async(apgas::clocked(c), [&turn, c, i] {
        if (i == 0) turn.acquire();
        c.advance();
      });
    }
    c.drop();
  });
}

apgas::mutex mine;  // each place, a process of its own, has one

// Two places lock their mutexes, and then each that of the other.
void swap() {
  apgas::finish([] {
    for (apgas::place p : apgas::places()) {
      apgas::async_at(p, [other = apgas::place(1 - p.id())] {
        mine.lock();
        apgas::sleep_for(std::chrono::seconds(1));
        apgas::at(other, [] { mine.lock(); });
      });
    }
  });
}

// A task and the finish that it belongs to wait for each other, while another task goes on.
void serve() {
  const auto c = apgas::clock::make();
  apgas::async([] {
    while (true) apgas::sleep_for(std::chrono::milliseconds(10));
  });
  apgas::finish([c] {
    apgas::async(apgas::clocked(c), [c] { c.advance(); });
    apgas::yield();  // so that the task has a stack of its own
  });
}

[[gnu::noinline]] double relaxation(std::chrono::seconds duration) {
  const auto end = std::chrono::steady_clock::now() + duration;
  double sum = 0;
  while (std::chrono::steady_clock::now() < end) {
    for (int i = 0; i < 1'000'000; ++i) sum += std::sin(i);
  }
  return sum;
}

void compute() {
  apgas::finish([] {
    apgas::async(apgas::name("relaxation"),
                 [] { std::printf("%f\n", relaxation(std::chrono::seconds(2))); });
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view way = argc > 1 ? argv[1] : "";
  return apgas::run(argc, argv, [way] {
    if (way == "relax") return relax();
    if (way == "swap") return swap();
    if (way == "serve") return serve();
    compute();
  });
}
