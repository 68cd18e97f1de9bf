// SPDX-License-Identifier: Apache-2.0

// Parallel loops over an empty body and over a body of about 100 ns.

#include <cstdint>

#include <apgas/apgas.hpp>

#include "spawn_benchmarks.hpp"
#include "spawn_peers.hpp"

#if defined(BENCH_TBB)
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#endif

namespace bench {
namespace {

// Keeps the compiler from removing the body and from vectorising the loop.
void nothing(int i) { asm volatile("" : : "r"(i)); }

// A chain of 75 multiplications and additions of about four cycles each.
void hundred_ns(int i) {
  auto x = static_cast<std::uint64_t>(i);
  for (int k = 0; k < 75; ++k) x = x * 6364136223846793005U + 1442695040888963407U;
  asm volatile("" : : "r"(x));
  arrivals::add(1);
}

template <class Body>
benchmark loops(benchmark b, int n, std::uint64_t expected, Body body) {
  const auto serial = [body](int m) {
    for (int i = 0; i < m; ++i) body(i);
    return arrivals::take();
  };
  add_serial(b, "serial", serial, n, expected);
  const auto ours = [body](int m) {
    apgas::forall(0, m, body);
    return arrivals::take();
  };
  add_ours(b, "apgas forall", ours, n, expected);
#if defined(BENCH_TBB)
  const auto blocks = [body](int m) {
    tbb::parallel_for(tbb::blocked_range<int>(0, m), [body](const tbb::blocked_range<int>& r) {
      for (int i = r.begin(); i < r.end(); ++i) body(i);
    });
    return arrivals::take();
  };
  add_peer(b, "TBB parallel_for", [=](int w) { return with_tbb(w, blocks); }, n, expected);
#endif
#if defined(BENCH_OPENMP)
  const auto divided = [body](int w) {
    return [body, w](int m) {
#pragma omp parallel for num_threads(w)
      for (int i = 0; i < m; ++i) body(i);
      return arrivals::take();
    };
  };
  add_peer(b, "OpenMP parallel for", divided, n, expected);
#endif
  return b;
}

}  // namespace

benchmark empty_loop(const sizes& s) {
  const int n = s.loop_iterations;
  return loops({"loop, empty body", "iteration", static_cast<double>(n), 0, {}}, n, 0,
               [](int i) { nothing(i); });
}

benchmark worked_loop(const sizes& s) {
  const int n = s.worked_iterations;
  return loops({"loop, body of 100 ns", "iteration", static_cast<double>(n), 0, {}}, n,
               static_cast<std::uint64_t>(n), [](int i) { hundred_ns(i); });
}

}  // namespace bench
