// SPDX-License-Identifier: Apache-2.0

// The same constructs with OpenMP.

#if defined(_OPENMP)

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <omp.h>

#include "epcc/constructs.hpp"
#include "support/stopwatch.hpp"

namespace epcc {
namespace {

// Whether the region has as many threads as wanted; otherwise the sample is not correct.
bool whole(const plan& p) { return omp_get_num_threads() == p.members; }

sample barrier(const plan& p) {
  checked_rounds all(p);
#pragma omp parallel num_threads(p.members)
  all.run(omp_get_thread_num(), [&p] {
    p.work();
#pragma omp barrier
    return whole(p);
  });
  return all.result();
}

// The total is never cleared, so that one barrier suffices. A thread may read it only while no
// other thread adds to it; so two totals are used in turn.
sample reduction(const plan& p) {
  checked_rounds all(p);
  constexpr int line = 64 / sizeof(int);
  int totals[2 * line] = {};
#pragma omp parallel num_threads(p.members)
  {
    int round = 0;
    all.run(omp_get_thread_num(), [&] {
      const int k = round % 2 * line;
#pragma omp for reduction(+ : totals[k : 1]) schedule(static)
      for (int i = 0; i < p.members; ++i) {
        p.work();
        totals[k] += 1;
      }
      ++round;
      return totals[k] == (round + 1) / 2 * p.members;
    });
  }
  return all.result();
}

sample parallel(const plan& p) {
  std::vector<int> counts(static_cast<std::size_t>(p.members));
  const apps::stopwatch watch;
  for (int r = 0; r < p.rounds; ++r) {
#pragma omp parallel num_threads(p.members)
    {
      p.work();
      ++counts[static_cast<std::size_t>(omp_get_thread_num())];
    }
  }
  const double seconds = watch.seconds();
  return {seconds, std::ranges::all_of(counts, [&p](int n) { return n == p.rounds; })};
}

sample single(const plan& p) {
  checked_rounds all(p);
  int singles = 0;
#pragma omp parallel num_threads(p.members)
  all.run(omp_get_thread_num(), [&] {
#pragma omp single
    {
      p.work();
      ++singles;
    }
    return true;
  });
  sample s = all.result();
  s.correct = s.correct && singles == all.rounds();
  return s;
}

// A team cannot grow, so that there is a region for each round, as in Figure 16 of the paper.
sample growing(const plan& p) {
  std::int64_t passed = 0;
  const apps::stopwatch watch;
  for (int r = 0; r < p.rounds; ++r) {
    for (int n = 2; n <= p.members; ++n) {
#pragma omp parallel for num_threads(n) schedule(static) reduction(+ : passed)
      for (int i = 0; i < n; ++i) {
        p.work();
        ++passed;
      }
    }
  }
  const std::int64_t n = p.members;
  return {watch.seconds(), passed == (n * (n + 1) / 2 - 1) * p.rounds};
}

}  // namespace

// A team whose threads leave and join has to be forked in every round, too.
std::vector<implementation> by_openmp() {
  return {{"barrier", "openmp", barrier},   {"reduction", "openmp", reduction},
          {"parallel", "openmp", parallel}, {"single", "openmp", single},
          {"growing", "openmp", growing},   {"changing", "openmp", parallel}};
}

}  // namespace epcc

#else

#include "epcc/constructs.hpp"

namespace epcc {

std::vector<implementation> by_openmp() { return {}; }

}  // namespace epcc

#endif
