// SPDX-License-Identifier: Apache-2.0

// OpenMP teams. How their threads wait depends on OMP_WAIT_POLICY, which sync_bench sets; `active`
// is for as many threads as cores.

#include <atomic>
#include <vector>

#include <omp.h>

#include "sync_peers.hpp"

namespace bench {
namespace {

// Two totals, used in turn, so that one is not added to while it is still being read; they are
// never reset.
struct alignas(64) total {
  long value = 0;
};
total even;
total odd;

void add(long contributed, int members, long phase) {
  long& sum = phase % 2 == 0 ? even.value : odd.value;
#pragma omp for reduction(+ : sum) schedule(static)
  for (int i = 0; i < members; ++i) sum += contributed;
}

}  // namespace

sample openmp_barrier(const plan& p) {
  lock_step all(p);
  std::atomic<int> team{0};
#pragma omp parallel num_threads(p.members)
  {
    ++team;
    all.run(omp_get_thread_num(), [](long) {
#pragma omp barrier
      return true;
    });
  }
  sample s = all.result();
  s.correct = s.correct && team == p.members;
  return s;
}

sample openmp_reduction(const plan& p) {
  lock_step all(p);
#pragma omp parallel num_threads(p.members)
  {
    const int member = omp_get_thread_num();
    long before[2] = {0, 0};
    all.run(member, [&](long phase) {
      add(contribution(member, phase), p.members, phase);
      const long now = phase % 2 == 0 ? even.value : odd.value;
      const long sum = now - before[phase % 2];
      before[phase % 2] = now;
      return sum == reduction(p.members, phase);
    });
  }
  return all.result();
}

// A team cannot grow, so there is a parallel region for each round, as in Figure 16 of the paper.
sample openmp_growing(const plan& p) {
  const auto grow = [&p] {
    long sum = 0;
    std::vector<long> counts(static_cast<std::size_t>(p.members), 0);
    for (int n = 2; n <= p.members; ++n) {
#pragma omp parallel for num_threads(n) schedule(static)
      for (int i = 0; i < n; ++i) ++counts[static_cast<std::size_t>(omp_get_thread_num())];
    }
    for (const long count : counts) sum += count;
    return sum;
  };
  return repeated(p, grow, growing_phases(p.members));
}

}  // namespace bench
