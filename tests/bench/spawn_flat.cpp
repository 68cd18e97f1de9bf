// SPDX-License-Identifier: Apache-2.0

// Many tasks of one parent: tiny tasks, where only the spawn matters, and eight tasks of
// milliseconds, where only their distribution matters.

#include <chrono>
#include <cstdint>
#include <string>

#include <apgas/apgas.hpp>

#include "spawn_benchmarks.hpp"
#include "spawn_peers.hpp"

namespace bench {
namespace {

[[gnu::noinline]] void tiny() { arrivals::add(1); }

std::uint64_t serial(int n) {
  for (int i = 0; i < n; ++i) tiny();
  return arrivals::take();
}

// Spins for `ms` milliseconds of wall-clock time.
void busy(int milliseconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (std::chrono::steady_clock::now() < end) {
  }
  arrivals::add(1);
}

constexpr int coarse_tasks = 8;

template <class Task>
std::uint64_t finish_of(int n, Task task) {
  apgas::finish([&] {
    for (int i = 0; i < n; ++i) apgas::async(task);
  });
  return arrivals::take();
}

#if defined(BENCH_TBB)
template <class Task>
std::uint64_t group_of(int n, Task task) {
  tbb::task_group group;
  for (int i = 0; i < n; ++i) group.run(task);
  group.wait();
  return arrivals::take();
}
#endif

#if defined(BENCH_OPENMP)
template <class Task>
std::uint64_t taskgroup_of(int n, Task task) {
#pragma omp taskgroup
  for (int i = 0; i < n; ++i) {
#pragma omp task firstprivate(task)
    task();
  }
  return arrivals::take();
}
#endif

}  // namespace

benchmark flat(const sizes& s) {
  const int n = s.flat_tasks;
  const auto expected = static_cast<std::uint64_t>(n);
  benchmark b{"flat loop of tiny tasks", "task", static_cast<double>(n), 0, {}};
  add_serial(b, "serial", serial, n, expected);
  add_ours(b, "apgas async", [](int m) { return finish_of(m, [] { tiny(); }); }, n, expected);
#if defined(BENCH_TBB)
  const auto grouped = [](int m) { return group_of(m, [] { tiny(); }); };
  add_peer(b, "TBB task_group", [=](int w) { return with_tbb(w, grouped); }, n, expected);
#endif
#if defined(BENCH_OPENMP)
  const auto tasked = [](int m) { return taskgroup_of(m, [] { tiny(); }); };
  add_peer(b, "OpenMP task", [=](int w) { return with_openmp(w, tasked); }, n, expected);
#endif
  return b;
}

benchmark coarse(const sizes& s) {
  const int ms = s.coarse_milliseconds;
  const std::uint64_t expected = coarse_tasks;
  benchmark b{"8 tasks of " + std::to_string(ms) + " ms", "task", coarse_tasks, 0, {}};
  const auto serially = [](int m) {
    for (int i = 0; i < coarse_tasks; ++i) busy(m);
    return arrivals::take();
  };
  add_serial(b, "serial", serially, ms, expected);
  const auto ours = [](int m) { return finish_of(coarse_tasks, [m] { busy(m); }); };
  add_ours(b, "apgas async", ours, ms, expected);
#if defined(BENCH_TBB)
  const auto grouped = [](int m) { return group_of(coarse_tasks, [m] { busy(m); }); };
  add_peer(b, "TBB task_group", [=](int w) { return with_tbb(w, grouped); }, ms, expected);
#endif
#if defined(BENCH_OPENMP)
  const auto tasked = [](int m) { return taskgroup_of(coarse_tasks, [m] { busy(m); }); };
  add_peer(b, "OpenMP task", [=](int w) { return with_openmp(w, tasked); }, ms, expected);
#endif
  return b;
}

}  // namespace bench
