// SPDX-License-Identifier: Apache-2.0

// A task that suspends and is resumed: by yield, with two tasks that take turns; and by a future,
// with 64 tasks that wait for it and are resumed together. The same 64 tasks with a future that is
// ready do everything except suspend. The difference is the cost of a suspension. The same with
// coroutines, which await the future and hold no fiber meanwhile.

#include <cstdint>

#include <apgas/apgas.hpp>

#include "spawn_benchmarks.hpp"
#include "spawn_peers.hpp"

#if defined(BENCH_TBB)
#include <oneapi/tbb/task.h>
#endif

namespace bench {
namespace {

constexpr int waiters = 64;

std::uint64_t yielding(int rounds) {
  const int turns = rounds * waiters / 2;
  apgas::finish([turns] {
    for (int i = 0; i < 2; ++i) {
      apgas::async([turns] {
        for (int k = 0; k < turns; ++k) apgas::yield();
        arrivals::add(static_cast<std::uint64_t>(turns));
      });
    }
  });
  return arrivals::take();
}

// The setter is spawned first, so that with one worker it runs last, when all the others wait.
std::uint64_t waiting(int rounds, bool ready_before) {
  for (int round = 0; round < rounds; ++round) {
    const apgas::promise<int> gate;
    const apgas::future<int> open = gate.get_future();
    if (ready_before) gate.set_value(1);
    apgas::finish([&] {
      if (!ready_before) apgas::async([&gate] { gate.set_value(1); });
      for (int i = 0; i < waiters; ++i) {
        apgas::async([&open] { arrivals::add(static_cast<std::uint64_t>(open.get())); });
      }
    });
  }
  return arrivals::take();
}

apgas::task<> await_gate(apgas::future<int> open) {
  arrivals::add(static_cast<std::uint64_t>(co_await open));
}

std::uint64_t awaiting(int rounds, bool ready_before) {
  for (int round = 0; round < rounds; ++round) {
    const apgas::promise<int> gate;
    const apgas::future<int> open = gate.get_future();
    if (ready_before) gate.set_value(1);
    apgas::finish([&] {
      if (!ready_before) apgas::async([&gate] { gate.set_value(1); });
      for (int i = 0; i < waiters; ++i) apgas::async(await_gate(open));
    });
  }
  return arrivals::take();
}

#if defined(BENCH_TBB)
std::uint64_t suspending(int rounds) {
  tbb::task_group group;
  for (int i = 0; i < 2; ++i) {
    group.run([turns = rounds * waiters / 2] {
      for (int k = 0; k < turns; ++k) {
        tbb::task::suspend([](tbb::task::suspend_point p) { tbb::task::resume(p); });
      }
      arrivals::add(static_cast<std::uint64_t>(turns));
    });
  }
  group.wait();
  return arrivals::take();
}
#endif

}  // namespace

benchmark suspension(const sizes& s) {
  const int n = s.rounds_of_suspensions;
  const auto count = static_cast<std::uint64_t>(n) * waiters;
  benchmark b{"suspension", "suspension", static_cast<double>(count), 0, {}};
  add_ours(b, "apgas yield", yielding, n, count);
  add_ours(b, "apgas future", [](int r) { return waiting(r, false); }, n, count);
  add_ours(b, "apgas future, ready before", [](int r) { return waiting(r, true); }, n, count);
  add_ours(b, "apgas co_await", [](int r) { return awaiting(r, false); }, n, count);
  add_ours(b, "apgas co_await, ready before", [](int r) { return awaiting(r, true); }, n, count);
#if defined(BENCH_TBB)
  add_peer(b, "TBB suspend/resume", [](int w) { return with_tbb(w, suspending); }, n, count);
#endif
  return b;
}

}  // namespace bench
