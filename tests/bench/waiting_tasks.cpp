// SPDX-License-Identifier: Apache-2.0
// waiting_tasks N [calls|latches]: N tasks of each place wait for a latch of their place. With
// `calls`, half of them wait in an `at` for one of the others, at the next place; with `latches`,
// each waits for a latch of its own. Prints "ready" when all of them wait, and ends when its
// standard input does. For measurements of reports.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string_view>

#include <unistd.h>

#include <apgas/apgas.hpp>

namespace {

enum class kind : unsigned char { one_latch, calls, latches };

struct waiting {
  explicit waiting(int latches) {
    for (int i = 0; i < latches; ++i) gates.emplace_back(1);
  }
  std::deque<apgas::latch> gates;
  std::atomic<int> tasks{0};
};
using waiting_places = apgas::place_local<waiting>;

void wait_here(const waiting_places& at_each, int gate) {
  ++at_each->tasks;
  at_each->gates[static_cast<std::size_t>(gate)].wait();
}

void spawn_tasks(const waiting_places& at_each, int n, kind what) {
  const auto all = apgas::places();
  const apgas::place next = all[(static_cast<std::size_t>(apgas::here().id()) + 1) % all.size()];
  if (what == kind::calls) {
    for (int i = 0; i < n / 2; ++i)
      apgas::async([at_each, next] { apgas::at(next, [at_each] { wait_here(at_each, 0); }); });
  } else {
    for (int i = 0; i < n; ++i) {
      const int gate = what == kind::latches ? i : 0;
      apgas::async([at_each, gate] { wait_here(at_each, gate); });
    }
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

void main_task(int n, kind what) {
  const auto at_each = waiting_places::make(
      apgas::places(), [](int latches) { return waiting(latches); }, what == kind::latches ? n : 1);
  apgas::finish([&] {
    for (apgas::place p : apgas::places()) {
      apgas::async_at(p, [at_each, n, what] { spawn_tasks(at_each, n, what); });
    }
    for (apgas::place p : apgas::places()) {
      apgas::at(p, [at_each, wanted = what == kind::calls ? n / 2 : n] {
        while (at_each->tasks < wanted) apgas::sleep_for(std::chrono::milliseconds(1));
      });
    }
    wait_for_the_end_of_input();
    for (apgas::place p : apgas::places()) {
      apgas::at(p, [at_each] {
        for (auto& gate : at_each->gates) gate.count_down();
      });
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
  const std::string_view word = argc > 2 ? argv[2] : "";
  const kind what = word == "calls"     ? kind::calls
                    : word == "latches" ? kind::latches
                                        : kind::one_latch;
  return apgas::run(argc, argv, [n, what] { main_task(n, what); });
}
