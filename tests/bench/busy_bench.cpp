// SPDX-License-Identifier: Apache-2.0

// How soon a place answers while all its workers compute: an `at` from place 0 to place 1, whose
// tasks each compute for a while without a scheduling point. Run it once for each way of making
// progress:
//
//   mpirun -n 2 busy_bench
//   APGAS_PROGRESS=thread mpirun -n 2 busy_bench

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <fmt/format.h>

#include <apgas/apgas.hpp>

#include "options.hpp"
#include "report.hpp"

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::microseconds;

std::atomic<bool> enough{false};

void compute(microseconds length) {
  const auto end = clock::now() + length;
  while (clock::now() < end) continue;
}

// Until `enough`, every worker of this place always has such tasks to run.
void stay_busy(microseconds grain) {
  while (!enough.load(std::memory_order_relaxed)) {
    apgas::finish([grain] {
      for (int i = 0; i < 16 * apgas::num_workers(); ++i) {
        apgas::async([grain] { compute(grain); });
      }
    });
  }
}

// The sorted microseconds from the call of an `at` to its return.
std::vector<double> answers(microseconds grain, int calls) {
  std::vector<double> took;
  apgas::at(apgas::place(1), [] { enough = false; });
  apgas::finish([&] {
    apgas::async_at(
        apgas::place(1), [](std::int64_t us) { stay_busy(microseconds(us)); },
        std::int64_t{grain.count()});
    apgas::sleep_for(std::chrono::milliseconds(5));  // the place is busy now
    for (int i = 0; i < calls; ++i) {
      const auto begin = clock::now();
      apgas::at(apgas::place(1), [] {});
      took.push_back(std::chrono::duration<double, std::micro>(clock::now() - begin).count());
      apgas::sleep_for(microseconds(200 + 37 * (i % 7)));  // out of step with the tasks
    }
    apgas::at(apgas::place(1), [] { enough = true; });
  });
  std::ranges::sort(took);
  return took;
}

struct options {
  int calls = 300;
  bool quick = false;
};

int measure(const options& o) {
  if (apgas::num_places() != 2) {
    fmt::print(stderr, "usage: mpirun -n 2 busy_bench (there are {} places)\n",
               apgas::num_places());
    return 2;
  }
  fmt::print("{:>14}{:>14}{:>14}{:>14}{:>14}\n", "task, us", "median, us", "90 %, us", "99 %, us",
             "worst, us");
  std::vector<bench::demand> demands;
  for (const int grain : {0, 1, 10, 100, 1000}) {
    const auto took = answers(microseconds(grain), grain == 1000 ? o.calls / 3 : o.calls);
    fmt::print("{:>14}{:>14.1f}{:>14.1f}{:>14.1f}{:>14.1f}\n", grain, took[took.size() / 2],
               took[took.size() * 9 / 10], took[took.size() * 99 / 100], took.back());
    if (grain > 100) continue;
    demands.push_back({.what = fmt::format("answer during tasks of {} us, 99 of 100", grain),
                       .value = took[took.size() * 99 / 100],
                       .bar = 50.0 + grain,
                       .unit = "us",
                       .median = took[took.size() / 2]});
  }
  if (!o.quick) bench::print_demands(demands);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  CLI::App app("How soon a place answers while it computes");
  app.add_flag("--quick", o.quick, "few calls; the times mean nothing");
  app.add_option("--calls", o.calls, "number of calls of each kind")->check(CLI::Range(3, 100'000));
  CLI11_PARSE(app, argc, argv);
  if (o.quick) o.calls = 3;
  apgas::config settings;
  settings.workers = 1;
  return apgas::run(argc, argv, settings, [&o] { return measure(o); });
}
