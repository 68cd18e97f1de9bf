// SPDX-License-Identifier: Apache-2.0

// The algorithms that visit each element once or twice.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <unordered_map>
#include <vector>

#include <apgas/parallel.hpp>

#include "algorithm_data.hpp"

#if defined(BENCH_TBB)
#include <execution>
#define BENCH_PAR(...) [](algorithm_data& d) { __VA_ARGS__; }
#else
#define BENCH_PAR(...) nullptr
#endif

namespace bench {
namespace {

// Function objects, because a call through a pointer to a function cannot be inlined.
constexpr auto third = [](int x) { return x % 3 == 0; };  // accepts a third at random
constexpr auto scramble = [](int x) {
  return static_cast<int>((static_cast<unsigned>(x) * 2654435761U) >> 2U);
};
constexpr auto change = [](int& x) { x = scramble(x); };
constexpr auto square = [](double x) { return x * x; };
constexpr auto low_byte = [](int x) { return static_cast<std::size_t>(x & 0xff); };
constexpr auto thousand = [](int x) { return x % 1000; };
constexpr auto wide = [](int x) { return static_cast<long>(x); };

std::uint64_t of_work(const algorithm_data& d) { return digest_in_order(d.work); }
std::uint64_t of_output(const algorithm_data& d) { return digest_in_order(d.output); }
std::uint64_t of_counts(const algorithm_data& d) { return digest_in_order(d.counts); }
std::uint64_t of_result(const algorithm_data& d) { return static_cast<std::uint64_t>(d.result); }
std::uint64_t of_both_sides(const algorithm_data& d) {
  const auto boundary = static_cast<std::size_t>(d.result);
  return digest_in_any_order(d.work, 0, boundary) * 3 +
         digest_in_any_order(d.work, boundary, d.work.size());
}

#if defined(BENCH_OPENMP)
algorithm_calls::call openmp_change(int threads) {
  return [threads](algorithm_data& d) {
    const std::size_t n = d.work.size();
#pragma omp parallel for num_threads(threads)
    for (std::size_t i = 0; i < n; ++i) change(d.work[i]);
  };
}
algorithm_calls::call openmp_sum(int threads) {
  return [threads](algorithm_data& d) {
    const std::size_t n = d.reals.size();
    double sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(threads)
    for (std::size_t i = 0; i < n; ++i) sum += d.reals[i];
    d.result = static_cast<long>(sum);
  };
}
algorithm_calls::call openmp_histogram(int threads) {
  return [threads](algorithm_data& d) {
    const std::size_t n = d.input.size();
    std::size_t counts[256] = {};
#pragma omp parallel for reduction(+ : counts[ : 256]) num_threads(threads)
    for (std::size_t i = 0; i < n; ++i) ++counts[low_byte(d.input[i])];
    std::ranges::copy(counts, d.counts.begin());
  };
}
// Each thread has a map of its own; these are added up one after the other.
algorithm_calls::call openmp_collect(int threads) {
  return [threads](algorithm_data& d) {
    const std::size_t n = d.input.size();
    std::unordered_map<int, long> all;
#pragma omp parallel num_threads(threads)
    {
      std::unordered_map<int, long> sums;
#pragma omp for nowait
      for (std::size_t i = 0; i < n; ++i) sums[thousand(d.input[i])] += d.input[i];
#pragma omp critical
      for (const auto& [key, sum] : sums) all[key] += sum;
    }
    for (const auto& [key, sum] : all) d.result += sum ^ key;
  };
}
#else
const std::function<algorithm_calls::call(int)> openmp_change;
const std::function<algorithm_calls::call(int)> openmp_sum;
const std::function<algorithm_calls::call(int)> openmp_histogram;
const std::function<algorithm_calls::call(int)> openmp_collect;
#endif

void collect_serial(algorithm_data& d) {
  std::unordered_map<int, long> sums;
  for (const int x : d.input) sums[thousand(x)] += x;
  for (const auto& [key, sum] : sums) d.result += sum ^ key;
}
void collect_parallel(algorithm_data& d) {
  for (const auto& [key, sum] :
       apgas::parallel::collect_reduce(d.input, thousand, wide, std::plus<>())) {
    d.result += sum ^ key;
  }
}

std::vector<named_algorithm> visits() {
  namespace ours = apgas::parallel;
  return {
      {"for_each",
       {[](algorithm_data& d) { std::for_each(d.work.begin(), d.work.end(), change); },
        [](algorithm_data& d) { ours::for_each(d.work, change); },
        BENCH_PAR(std::for_each(std::execution::par, d.work.begin(), d.work.end(), change)),
        openmp_change, of_work, true}},
      {"transform",
       {[](algorithm_data& d) {
          std::transform(d.input.begin(), d.input.end(), d.output.begin(), scramble);
        },
        [](algorithm_data& d) { ours::transform(d.input, d.output.begin(), scramble); },
        BENCH_PAR(std::transform(std::execution::par, d.input.begin(), d.input.end(),
                                 d.output.begin(), scramble)),
        nullptr, of_output}},
      {"reduce",
       {[](algorithm_data& d) {
          d.result = static_cast<long>(std::reduce(d.reals.begin(), d.reals.end()));
        },
        [](algorithm_data& d) { d.result = static_cast<long>(ours::reduce(d.reals)); },
        BENCH_PAR(d.result = static_cast<long>(
                      std::reduce(std::execution::par, d.reals.begin(), d.reals.end()))),
        openmp_sum, of_result}},
      {"transform_reduce",
       {[](algorithm_data& d) {
          d.result = static_cast<long>(
              std::transform_reduce(d.reals.begin(), d.reals.end(), 0.0, std::plus<>(), square));
        },
        [](algorithm_data& d) {
          d.result = static_cast<long>(ours::transform_reduce(d.reals, 0.0, std::plus<>(), square));
        },
        BENCH_PAR(
            d.result = static_cast<long>(std::transform_reduce(
                std::execution::par, d.reals.begin(), d.reals.end(), 0.0, std::plus<>(), square))),
        nullptr, of_result}},
      {"min_element",
       {[](algorithm_data& d) {
          d.result = std::min_element(d.input.begin(), d.input.end()) - d.input.begin();
        },
        [](algorithm_data& d) { d.result = ours::min_element(d.input) - d.input.begin(); },
        BENCH_PAR(d.result = std::min_element(std::execution::par, d.input.begin(), d.input.end()) -
                             d.input.begin()),
        nullptr, of_result}},
      {"max_element",
       {[](algorithm_data& d) {
          d.result = std::max_element(d.reals.begin(), d.reals.end()) - d.reals.begin();
        },
        [](algorithm_data& d) { d.result = ours::max_element(d.reals) - d.reals.begin(); },
        BENCH_PAR(d.result = std::max_element(std::execution::par, d.reals.begin(), d.reals.end()) -
                             d.reals.begin()),
        nullptr, of_result}},
      {"find_if",
       {[](algorithm_data& d) {
          const int x = d.input[d.input.size() / 2];
          d.result = std::find_if(d.input.begin(), d.input.end(), [x](int y) { return x == y; }) -
                     d.input.begin();
        },
        [](algorithm_data& d) {
          const int x = d.input[d.input.size() / 2];
          d.result = ours::find_if(d.input, [x](int y) { return x == y; }) - d.input.begin();
        },
        BENCH_PAR(const int x = d.input[d.input.size() / 2];
                  d.result = std::find_if(std::execution::par, d.input.begin(), d.input.end(),
                                          [x](int y) { return x == y; }) -
                             d.input.begin()),
        nullptr, of_result}},
  };
}

std::vector<named_algorithm> scans_and_selections() {
  namespace ours = apgas::parallel;
  return {
      {"inclusive_scan",
       {[](algorithm_data& d) {
          std::inclusive_scan(d.input.begin(), d.input.end(), d.output.begin(), std::bit_xor<>());
        },
        [](algorithm_data& d) {
          ours::inclusive_scan(d.input, d.output.begin(), std::bit_xor<>());
        },
        BENCH_PAR(std::inclusive_scan(std::execution::par, d.input.begin(), d.input.end(),
                                      d.output.begin(), std::bit_xor<>())),
        nullptr, of_output}},
      {"exclusive_scan",
       {[](algorithm_data& d) {
          std::exclusive_scan(d.input.begin(), d.input.end(), d.output.begin(), 1,
                              std::bit_xor<>());
        },
        [](algorithm_data& d) {
          ours::exclusive_scan(d.input, d.output.begin(), 1, std::bit_xor<>());
        },
        BENCH_PAR(std::exclusive_scan(std::execution::par, d.input.begin(), d.input.end(),
                                      d.output.begin(), 1, std::bit_xor<>())),
        nullptr, of_output}},
      {"copy_if",
       {[](algorithm_data& d) {
          std::copy_if(d.input.begin(), d.input.end(), d.output.begin(), third);
        },
        [](algorithm_data& d) { ours::copy_if(d.input, d.output.begin(), third); },
        BENCH_PAR(std::copy_if(std::execution::par, d.input.begin(), d.input.end(),
                               d.output.begin(), third)),
        nullptr, of_output}},
      {"partition",
       {[](algorithm_data& d) {
          d.result = std::partition(d.work.begin(), d.work.end(), third) - d.work.begin();
        },
        [](algorithm_data& d) { d.result = ours::partition(d.work, third) - d.work.begin(); },
        BENCH_PAR(d.result =
                      std::partition(std::execution::par, d.work.begin(), d.work.end(), third) -
                      d.work.begin()),
        nullptr, of_both_sides, true}},
      {"stable_partition",
       {[](algorithm_data& d) { std::stable_partition(d.work.begin(), d.work.end(), third); },
        [](algorithm_data& d) { ours::stable_partition(d.work, third); },
        BENCH_PAR(std::stable_partition(std::execution::par, d.work.begin(), d.work.end(), third)),
        nullptr, of_work, true}},
      {"histogram",
       {[](algorithm_data& d) {
          std::ranges::fill(d.counts, 0);
          for (const int x : d.input) ++d.counts[low_byte(x)];
        },
        [](algorithm_data& d) { d.counts = ours::histogram(d.input, 256, low_byte); }, nullptr,
        openmp_histogram, of_counts}},
      {"collect_reduce", {collect_serial, collect_parallel, nullptr, openmp_collect, of_result}},
  };
}

}  // namespace

std::vector<named_algorithm> algorithms_on_elements() {
  std::vector<named_algorithm> all = visits();
  for (auto& each : scans_and_selections()) all.push_back(std::move(each));
  return all;
}

}  // namespace bench
