// SPDX-License-Identifier: Apache-2.0

// Fibonacci numbers: almost no work for each spawn, so this measures the cost of the spawn itself.

#include <cstdint>
#include <string>
#include <utility>

#include <apgas/apgas.hpp>

#include "spawn_benchmarks.hpp"
#include "spawn_peers.hpp"

#if defined(BENCH_TBB)
#include <oneapi/tbb/parallel_invoke.h>
#endif

namespace bench {
namespace {

using number = std::int64_t;

// The compiler may inline the recursion.
number serial(int n) { return n < 2 ? n : serial(n - 1) + serial(n - 2); }

[[gnu::noinline]] number serial_call(int n) {
  return n < 2 ? n : serial_call(n - 1) + serial_call(n - 2);
}

number forked(int n) {
  if (n < 2) return n;
  const auto [a, b] = apgas::fork_join([n] { return forked(n - 1); },  //
                                       [n] { return forked(n - 2); });
  return a + b;
}

number finished(int n) {
  if (n < 2) return n;
  number a = 0;
  number b = 0;
  apgas::finish([&] {
    apgas::async([&a, n] { a = finished(n - 1); });
    b = finished(n - 2);
  });
  return a + b;
}

#if defined(BENCH_TBB)
number grouped(int n) {
  if (n < 2) return n;
  number a = 0;
  tbb::task_group group;
  group.run([&a, n] { a = grouped(n - 1); });
  const number b = grouped(n - 2);
  group.wait();
  return a + b;
}

number invoked(int n) {
  if (n < 2) return n;
  number a = 0;
  number b = 0;
  tbb::parallel_invoke([&a, n] { a = invoked(n - 1); }, [&b, n] { b = invoked(n - 2); });
  return a + b;
}
#endif

#if defined(BENCH_OPENMP)
number tasked(int n) {
  if (n < 2) return n;
  number a = 0;
#pragma omp task shared(a) firstprivate(n)
  a = tasked(n - 1);
  const number b = tasked(n - 2);
#pragma omp taskwait
  return a + b;
}
#endif

// The expected result, computed independently.
number by_addition(int n) {
  number current = 0;
  number next = 1;
  for (int i = 0; i < n; ++i) current = std::exchange(next, current + next);
  return current;
}

}  // namespace

benchmark fib(const sizes& s) {
  const int n = s.fib;
  const number expected = by_addition(n);
  const auto spawns = static_cast<double>(by_addition(n + 1) - 1);
  benchmark b{"fib(" + std::to_string(n) + ")", "spawn", spawns, 2 * spawns + 1, {}};
  add_serial(b, "serial", serial, n, expected);
  add_serial(b, "serial, not inlined", serial_call, n, expected);
  add_ours(b, "apgas fork_join", forked, n, expected);
  add_ours(b, "apgas finish/async", finished, n, expected);
#if defined(BENCH_TBB)
  add_peer(b, "TBB task_group", [](int w) { return with_tbb(w, grouped); }, n, expected);
  add_peer(b, "TBB parallel_invoke", [](int w) { return with_tbb(w, invoked); }, n, expected);
#endif
#if defined(BENCH_OPENMP)
  add_peer(b, "OpenMP task", [](int w) { return with_openmp(w, tasked); }, n, expected);
#endif
  return b;
}

}  // namespace bench
