// SPDX-License-Identifier: Apache-2.0
// waiting_tasks N [calls]: N tasks of each place wait for a latch of their place. With `calls`,
// half of them wait in an `at` for one of the others, at the next place. Prints "ready" when all of
// them wait, and ends when its standard input does. For measurements of reports.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

#include <apgas/apgas.hpp>

namespace {

struct waiting {
  apgas::latch gate{1};
  std::atomic<int> tasks{0};
};
using waiting_places = apgas::place_local<waiting>;

void wait_here(const waiting_places& at_each) {
  ++at_each->tasks;
  at_each->gate.wait();
}

void spawn_tasks(const waiting_places& at_each, int n, bool calls) {
  const auto all = apgas::places();
  const apgas::place next = all[(static_cast<std::size_t>(apgas::here().id()) + 1) % all.size()];
  if (calls) {
    for (int i = 0; i < n / 2; ++i)
      apgas::async([at_each, next] { apgas::at(next, [at_each] { wait_here(at_each); }); });
  } else {
    for (int i = 0; i < n; ++i) apgas::async([at_each] { wait_here(at_each); });
  }
}

void wait_for_the_end_of_input() {
  apgas::blocking([] {
    std::puts("ready");
    std::fflush(stdout);
    char c = 0;
    while (read(STDIN_FILENO, &c, 1) == 1) {
    }
  });
}

void main_task(int n, bool calls) {
  const auto at_each = waiting_places::make(apgas::places(), [] { return waiting(); });
  apgas::finish([&] {
    for (apgas::place p : apgas::places()) {
      apgas::async_at(p, [at_each, n, calls] { spawn_tasks(at_each, n, calls); });
    }
    for (apgas::place p : apgas::places()) {
      apgas::at(p, [at_each, wanted = calls ? n / 2 : n] {
        while (at_each->tasks < wanted) apgas::sleep_for(std::chrono::milliseconds(1));
      });
    }
    wait_for_the_end_of_input();
    for (apgas::place p : apgas::places()) apgas::at(p, [at_each] { at_each->gate.count_down(); });
  });
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
  const bool calls = argc > 2 && std::string_view(argv[2]) == "calls";
  return apgas::run(argc, argv, [n, calls] { main_task(n, calls); });
}
