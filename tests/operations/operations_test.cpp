// SPDX-License-Identifier: Apache-2.0
// The instructions of operations within a place. A child process runs them on its only worker, and
// this process steps that worker (support/single_step.hpp). It fails if an operation takes more
// instructions or locked operations than operations.hpp permits.
//
// With `--marked N` it is the program for cache_lines.py: it runs each operation N times, and marks
// the beginning of each by a write to an address, which it prints.
//
// Exit code: 77 if the system does not permit to trace the child, or has no membarrier, without
// which each push and pop of a task is a full fence.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>
#include <string_view>

#include <sys/mman.h>
#include <sys/prctl.h>

#include "operations.hpp"
#include "support/single_step.hpp"

namespace {

using namespace std::chrono_literals;

// ---- the stepped process

// Laps of the worker, until the tracer has seen enough.
struct stepped_laps {
  std::atomic<pid_t> thread{0};
  std::atomic<bool> traced{false};
  std::atomic<bool> enough{false};

  void begin() {
    thread = gettid();
    while (!traced) std::this_thread::sleep_for(100us);
  }
  void lap() const {
    if (!enough) test::lap();
  }
  bool over() const { return enough; }
};

// A fixed number of laps, each of which begins with a write to `mark`.
struct marked_laps {
  int left = 0;

  static void lap() { mark = 1; }
  bool over() { return left-- <= 0; }

  static inline volatile char mark = 0;
};

template <class F>
int run_on_one_worker(int argc, char** argv, F f) {
  apgas::config settings;
  settings.places = 1;
  settings.workers = 1;
  return apgas::run(argc, argv, settings, f);
}

constexpr auto& stepped = operations::all<stepped_laps>;
constexpr std::size_t operations_all = std::size(stepped);
stepped_laps* shared = nullptr;  // one for each operation, in memory that both processes share

// ---- the tracer

struct mean_counts {
  double instructions = std::numeric_limits<double>::max();
  double branches = 0;
  double locked = 0;
  double system_calls = 0;
};

// Steps a number of laps. There are more if they are short, because the worker looks for other work
// and moves its tasks only now and then, and chooses between several tasks that it could run next.
mean_counts step_series(test::single_stepper& worker) {
  constexpr std::uint64_t instructions_least = 20'000;
  constexpr double laps_least = 4;
  constexpr std::uint64_t instructions_enough = 60'000;
  constexpr double laps_enough = 40;
  test::instruction_counts sum;
  double laps = 0;
  for (; sum.instructions < instructions_least || laps < laps_least ||
         (sum.instructions < instructions_enough && laps < laps_enough);
       ++laps) {
    const test::instruction_counts lap = worker.step_lap(0);
    sum.instructions += lap.instructions;
    sum.branches += lap.branches;
    sum.locked += lap.locked;
    sum.system_calls += lap.system_calls;
  }
  const auto mean = [laps](std::uint64_t n) { return static_cast<double>(n) / laps; };
  return {mean(sum.instructions), mean(sum.branches), mean(sum.locked), mean(sum.system_calls)};
}

// Prints the counts as a row of a table. Returns whether they are within the limits.
bool check(pid_t child, const operations::operation& what, stepped_laps& laps) {
  constexpr int series_most = 4;  // another process may have caused work for the worker
  for (; laps.thread == 0; std::this_thread::sleep_for(100us)) {
    if (waitpid(child, nullptr, WNOHANG) == 0) continue;
    std::fprintf(stderr, "the child process ended before the test of %s\n", what.name);
    std::exit(1);
  }
  test::single_stepper worker(laps.thread);
  laps.traced = true;
  worker.wait_for_first_lap();
  static_cast<void>(step_series(worker));  // until steady state is reached
  mean_counts least;
  const auto within = [&] {
    return least.instructions <= static_cast<double>(what.instructions) &&
           least.locked <= static_cast<double>(what.locked) && least.system_calls == 0;
  };
  for (int i = 0; i < series_most && !within(); ++i) {
    least = std::min(least, step_series(worker), [](const mean_counts& a, const mean_counts& b) {
      return a.instructions < b.instructions;
    });
  }
  laps.enough = true;
  std::printf("| %s | %.0f | %.0f | %.2f |%s\n", what.name, least.instructions, least.branches,
              least.locked, within() ? "" : " too many");
  if (!within()) {
    std::printf(
        "  permitted: %llu instructions, %llu locked, no system call; found %.2f of these\n",
        static_cast<unsigned long long>(what.instructions),
        static_cast<unsigned long long>(what.locked), least.system_calls);
  }
  std::fflush(stdout);
  return within();
}

int run_marked(int argc, char** argv, int laps) {
  return run_on_one_worker(argc, argv, [laps] {
    std::printf("mark %p\n", static_cast<const void*>(const_cast<const char*>(&marked_laps::mark)));
    std::fflush(stdout);
    std::this_thread::sleep_for(1s);  // until the reader of the trace knows it
    for (const auto& each : operations::all<marked_laps>) {
      std::printf("%s\n", each.what.name);
      marked_laps counted{laps};
      each.loop(counted);
    }
    return 0;
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && argv[1] == std::string_view("--marked")) {
    return run_marked(argc, argv, std::atoi(argv[2]));
  }
  if (!test::membarrier_available()) {
    std::printf("skipped: the system has no membarrier\n");
    return 77;
  }
  void* const memory = mmap(nullptr, operations_all * sizeof(stepped_laps), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) test::give_up("mmap");
  shared = new (memory) stepped_laps[operations_all];
  const pid_t child = fork();
  if (child < 0) test::give_up("fork");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::exit(run_on_one_worker(argc, argv, [] {
      for (std::size_t i = 0; i < operations_all; ++i) {
        shared[i].begin();
        stepped[i].loop(shared[i]);
      }
      return 0;
    }));
  }
  std::printf("| operation | instructions | conditional branches | locked |\n|---|---|---|---|\n");
  bool good = true;
  for (std::size_t i = 0; i < operations_all; ++i) good &= check(child, stepped[i].what, shared[i]);
  int status = 0;
  if (waitpid(child, &status, 0) == child && status == 0) return good ? 0 : 1;
  std::fprintf(stderr, "the child process failed\n");
  return 1;
}
