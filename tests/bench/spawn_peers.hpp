// SPDX-License-Identifier: Apache-2.0
#pragma once

// How the peers are started with a number of threads, and a counter that their tasks and ours can
// use at the same cost.

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#if defined(BENCH_TBB)
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#endif

namespace bench {

#if defined(BENCH_TBB)
template <class F>
auto with_tbb(int threads, F f) {
  return [threads, f](auto argument) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(threads));
    tbb::task_arena arena(threads);
    return arena.execute([&] { return f(argument); });
  };
}
#endif

#if defined(BENCH_OPENMP)
// One thread of the team runs f; the others run its tasks.
template <class F>
auto with_openmp(int threads, F f) {
  return [threads, f](auto argument) {
    decltype(f(argument)) value{};
#pragma omp parallel num_threads(threads)
#pragma omp single
    value = f(argument);
    return value;
  };
}
#endif

// Counts what tasks did, with a counter for each thread, so that counting costs only an increment.
// The tasks that use it do not suspend, so that thread_local works for all variants.
class arrivals {
 public:
  static void add(std::uint64_t n) {
    std::atomic<std::uint64_t>& mine = cells_[cell()].value;
    mine.store(mine.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  // The sum since the last call. Requires: all tasks that call add() have ended.
  static std::uint64_t take() {
    std::uint64_t sum = 0;
    for (auto& each : cells_) sum += each.value.exchange(0);
    return sum;
  }

 private:
  static constexpr unsigned most_threads = 512;  // that exist at the same time
  struct alignas(64) padded {
    std::atomic<std::uint64_t> value;
  };

  static unsigned cell() {
    if (mine_ == 0) [[unlikely]]
      mine_ = 1 + next_.fetch_add(1) % most_threads;
    return mine_ - 1;
  }

  static inline std::array<padded, most_threads> cells_;
  static inline std::atomic<unsigned> next_{0};
  static inline constinit thread_local unsigned mine_ = 0;
};

}  // namespace bench
