// SPDX-License-Identifier: Apache-2.0
// The instructions of calls between two places of one process that are connected by rings. A child
// process runs the places. This process steps one of the two workers (single_step.hpp): the worker
// of the caller from call to call, or the worker of the called place from body to body.
//
// The other worker runs at full speed, so its message is there when the stepped worker looks for it
// the first time, and nearly all laps take the same number of instructions. A lap takes more if the
// other worker gets no processor in time, because the stepped worker then polls again, suspends a
// task, or wakes the other place. So the lap with the third lowest
// number of a series counts. While it is above a limit, the test steps further series, some of them
// more slowly. The other threads of the child are stopped, because the fallback poller of a place
// would receive messages for a worker that is as slow as a stepped one.
//
// Everything is counted twice: as in a process with several processors, and as in one with a single
// processor, where the worker of a place owns the locks of its messages (decision 0033).
//
// Exit code: 77 if the system does not permit to trace the child, or if there is only one
// processor, on which calls wait in another way.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <new>
#include <thread>

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <apgas/apgas.hpp>
#include <apgas/base/biased_lock.hpp>
#include <apgas/scheduler/fiber.hpp>
#include <apgas/sync/place_state.hpp>

#include "support/single_step.hpp"

namespace {

using namespace std::chrono_literals;
using apgas::place;
using test::instruction_counts;

constexpr std::size_t laps_of_a_series = 16;
constexpr useconds_t shortest_pause = 10;  // microseconds before each instruction
constexpr useconds_t longest_pause = 2'560;

// One of the workers is stepped until the tracer has seen enough.
struct measurement {
  std::atomic<pid_t> thread{0};  // the worker
  std::atomic<pid_t> other{0};   // the worker of the other place
  std::atomic<bool> traced{false};
  std::atomic<bool> enough{false};

  // Waits until the calling thread is traced. `at_other` is the worker of the other place.
  void begin(pid_t at_other) {
    other = at_other;
    thread = gettid();
    while (!traced) std::this_thread::sleep_for(100us);
  }
  void lap() const {
    if (!enough) test::lap();
  }
  // Keeps the worker of this place from sleeping, because waking it would cost a system call.
  void stay_awake() const {
    while (!enough) apgas::yield();
  }
};

enum path : std::uint8_t {
  at_caller,
  at_called,
  async_sender,
  async_target,
  finish_home,
  finish_target,
  paths
};

enum class locks : bool { shared, owned };

measurement* shared = nullptr;  // one for each path, in memory that both processes share

// ---- the places

// Calls f while the worker of this place is stepped. A finish of its own governs f, so that no
// credit of it is away between two calls, as in most programs.
template <path P, class F>
void step_here(F f) {
  apgas::finish([&] {
    apgas::async_at(place(1), [] { shared[P].stay_awake(); });
    shared[P].begin(apgas::at(place(1), [] { return gettid(); }));
    apgas::finish([&] {
      for (std::uint64_t i = 0; !shared[P].enough; ++i) {
        shared[P].lap();
        f(i);
      }
    });
  });
}

// Calls f in a finish of its own, as above, while the worker of place 1 is stepped. f begins a lap
// there.
template <path P, class F>
void step_there(F f) {
  apgas::finish([&] {
    apgas::async([] { shared[P].stay_awake(); });
    apgas::at(place(1), [](pid_t caller) { shared[P].begin(caller); }, gettid());
    apgas::finish([&] {
      for (std::uint64_t i = 0; !shared[P].enough; ++i) f(i);
    });
  });
}

// The owner of the locks that the worker of the place takes for each message.
apgas::base::lock_owner& network_locks() {
  return *apgas::sync::place_of(*apgas::scheduler::current_fiber()).network_locks;
}

void step_all() {
  step_here<at_caller>(
      [](std::uint64_t i) { apgas::at(place(1), [](std::uint64_t v) { return v; }, i); });
  step_there<at_called>([](std::uint64_t i) {
    apgas::at(
        place(1),
        [](std::uint64_t v) {
          shared[at_called].lap();
          return v;
        },
        i);
  });
  step_here<async_sender>(
      [](std::uint64_t i) { apgas::async_at(place(1), [](std::uint64_t) {}, i); });
  step_there<async_target>([](std::uint64_t i) {
    apgas::finish([i] {
      for (int k = 0; k < 64; ++k) {
        apgas::async_at(place(1), [](std::uint64_t) { shared[async_target].lap(); }, i);
      }
    });
  });
  step_here<finish_home>([](std::uint64_t i) {
    apgas::finish([i] { apgas::async_at(place(1), [](std::uint64_t) {}, i); });
  });
  step_there<finish_target>([](std::uint64_t i) {
    apgas::finish(
        [i] { apgas::async_at(place(1), [](std::uint64_t) { shared[finish_target].lap(); }, i); });
  });
}

void run_all(locks kind) {
  const auto everywhere = [](auto f) {
    for (const place p : apgas::places()) apgas::at(p, f);
  };
  if (kind == locks::owned) everywhere([] { network_locks().claim(); });
  step_all();
  if (kind == locks::owned) everywhere([] { network_locks().give_up(); });
}

// ---- the tracer

bool within(const instruction_counts& counts, const instruction_counts& limits) {
  return counts.instructions <= limits.instructions && counts.locked <= limits.locked &&
         counts.system_calls <= limits.system_calls;
}

// The lap with nearly the fewest instructions of a series of laps.
instruction_counts step_laps(test::single_stepper& worker, useconds_t pause) {
  std::array<instruction_counts, laps_of_a_series> laps;
  for (instruction_counts& each : laps) each = worker.step_lap(pause);
  std::ranges::sort(laps, {}, &instruction_counts::instructions);
  return laps[2];
}

// Ends the test if the child has ended, of which it says why itself.
void check_that_it_lives(pid_t child) {
  siginfo_t ended{};
  if (waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      ended.si_pid == 0)
    return;
  std::fprintf(stderr, "the child process ended before its worker was traced\n");
  std::exit(1);
}

// Steps the worker of a measurement until a series of laps is within the limits. Returns the counts
// of the series with the fewest instructions.
instruction_counts count(pid_t child, measurement& m, const instruction_counts& limits) {
  for (; m.thread == 0; std::this_thread::sleep_for(100us)) check_that_it_lives(child);
  const test::stopped_threads others(child, {m.thread, m.other});
  test::single_stepper worker(m.thread);
  m.traced = true;
  worker.wait_for_first_lap();
  static_cast<void>(step_laps(worker, 0));  // until steady state is reached
  instruction_counts least = step_laps(worker, 0);
  useconds_t pause = shortest_pause;
  for (; pause <= longest_pause && !within(least, limits); pause *= 2) {
    for (const useconds_t each : {pause, useconds_t{0}}) {
      least =
          std::ranges::min(least, step_laps(worker, each), {}, &instruction_counts::instructions);
    }
  }
  m.enough = true;
  return least;
}

// Prints the counts. Returns whether they are within the limits.
bool check(pid_t child, const char* side, measurement& m, const instruction_counts& limits) {
  const instruction_counts counts = count(child, m, limits);
  const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  std::printf(
      "%-32s %llu instructions (limit %llu), %llu locked (%llu), %llu system calls (%llu)\n", side,
      number(counts.instructions), number(limits.instructions), number(counts.locked),
      number(limits.locked), number(counts.system_calls), number(limits.system_calls));
  std::fflush(stdout);
  return within(counts, limits);
}

// The limits of a path: instructions, of which g++ 12.2 -O3 needs 96 hundredths, and the locked
// operations if the locks are shared or owned.
struct budget {
  path what;
  const char* side;
  std::uint64_t instructions;
  std::uint64_t locked_if_shared;
  std::uint64_t locked_if_owned;
};

constexpr budget budgets[] = {{at_caller, "at, caller", 1'640, 10, 5},
                              {at_called, "at, called place", 1'720, 6, 3},
                              {async_sender, "async_at, sender", 725, 4, 2},
                              {async_target, "async_at, target, in a batch", 190, 1, 1},
                              {finish_home, "finish of one async_at, home", 2'170, 15, 8},
                              {finish_target, "finish of one async_at, target", 2'790, 15, 10}};

bool check_all(pid_t child, locks kind) {
  bool good = true;
  std::printf("the workers %s the locks of their messages\n",
              kind == locks::owned ? "own" : "share");
  for (const budget& each : budgets) {
    const auto locked = kind == locks::owned ? each.locked_if_owned : each.locked_if_shared;
    good &= check(child, each.side, shared[each.what], {each.instructions, locked, 0});
  }
  return good;
}

// Runs the places in a child process, and counts. Returns whether all counts are within the limits.
bool measure(int argc, char** argv, locks kind) {
  void* const memory = mmap(nullptr, paths * sizeof(measurement), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) test::give_up("mmap");
  shared = new (memory) measurement[paths];
  const pid_t child = fork();
  if (child < 0) test::give_up("fork");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    apgas::config settings;
    settings.workers = 1;  // a lock has one owner
    std::exit(apgas::run(argc, argv, settings, [kind] { run_all(kind); }));
  }
  const bool good = check_all(child, kind);
  int status = 0;
  if (waitpid(child, &status, 0) == child && status == 0) return good;
  std::fprintf(stderr, "the child process failed\n");
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  cpu_set_t processors;
  if (sched_getaffinity(0, sizeof processors, &processors) != 0) test::give_up("sched_getaffinity");
  if (CPU_COUNT(&processors) < 2) {
    std::printf("skipped: two places of one worker each need two processors\n");
    return 77;
  }
  bool good = measure(argc, argv, locks::shared);
  if (test::membarrier_available()) {  // with which others take a lock that has an owner
    good &= measure(argc, argv, locks::owned);
  } else {
    std::printf("workers cannot own locks: the system has no membarrier\n");
  }
  return good ? 0 : 1;
}
