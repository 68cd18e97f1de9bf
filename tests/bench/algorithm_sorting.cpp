// SPDX-License-Identifier: Apache-2.0

// The algorithms that sort, and merge.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <apgas/parallel.hpp>

#include "algorithm_data.hpp"

#if defined(BENCH_TBB)
#include <execution>
#define BENCH_PAR(...) [](algorithm_data& d) { __VA_ARGS__; }
#else
#define BENCH_PAR(...) nullptr
#endif
#if defined(BENCH_OPENMP)
#include <parallel/algorithm>
#endif

namespace bench {
namespace {

#if defined(BENCH_OPENMP)
algorithm_calls::call openmp_sort(int threads) {
  return [threads](algorithm_data& d) {
    __gnu_parallel::sort(
        d.work.begin(), d.work.end(),
        __gnu_parallel::default_parallel_tag(static_cast<__gnu_parallel::_ThreadIndex>(threads)));
  };
}
algorithm_calls::call openmp_stable_sort(int threads) {
  return [threads](algorithm_data& d) {
    __gnu_parallel::stable_sort(
        d.work.begin(), d.work.end(),
        __gnu_parallel::default_parallel_tag(static_cast<__gnu_parallel::_ThreadIndex>(threads)));
  };
}
#else
const std::function<algorithm_calls::call(int)> openmp_sort;
const std::function<algorithm_calls::call(int)> openmp_stable_sort;
#endif

std::uint64_t of_work(const algorithm_data& d) { return digest_in_order(d.work); }
std::uint64_t of_output(const algorithm_data& d) { return digest_in_order(d.output); }

std::vector<int>::iterator middle(algorithm_data& d) {
  return d.halves.begin() + static_cast<std::ptrdiff_t>(d.halves.size() / 2);
}

}  // namespace

std::vector<named_algorithm> algorithms_of_sorting() {
  namespace ours = apgas::parallel;
  const auto sort = [](algorithm_data& d) { std::sort(d.work.begin(), d.work.end()); };
  const auto sort_par = BENCH_PAR(std::sort(std::execution::par, d.work.begin(), d.work.end()));
  return {
      {"sort",
       {sort, [](algorithm_data& d) { ours::sort(d.work); }, sort_par, openmp_sort, of_work, true}},
      {"stable_sort",
       {[](algorithm_data& d) { std::stable_sort(d.work.begin(), d.work.end()); },
        [](algorithm_data& d) { ours::stable_sort(d.work); },
        BENCH_PAR(std::stable_sort(std::execution::par, d.work.begin(), d.work.end())),
        openmp_stable_sort, of_work, true}},
      {"integer_sort",
       {sort, [](algorithm_data& d) { ours::integer_sort(d.work); }, sort_par, nullptr, of_work,
        true}},
      {"merge",
       {[](algorithm_data& d) {
          std::merge(d.halves.begin(), middle(d), middle(d), d.halves.end(), d.output.begin());
        },
        [](algorithm_data& d) {
          ours::merge(d.halves.begin(), middle(d), middle(d), d.halves.end(), d.output.begin());
        },
        BENCH_PAR(std::merge(std::execution::par, d.halves.begin(), middle(d), middle(d),
                             d.halves.end(), d.output.begin())),
        nullptr, of_output}},
  };
}

}  // namespace bench
