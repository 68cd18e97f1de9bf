// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the benchmarks of the parallel algorithms work on, and how a variant is measured: only the
// algorithm itself is timed, neither the copy of its input nor the check of its result.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness.hpp"
#include "spawn_peers.hpp"

namespace bench {

struct algorithm_data {
  explicit algorithm_data(std::size_t n);

  std::vector<int> input;     // random numbers from 0 to 2^30
  std::vector<int> halves;    // the same, each half of them sorted
  std::vector<double> reals;  // random whole numbers from 0 to 1000
  std::vector<int> work;      // a copy of input, for the algorithms that work in place
  std::vector<int> output;
  std::vector<std::size_t> counts;
  long result = 0;
};

// One algorithm and how its variants call it. `digest` returns a number that equals that of the
// standard algorithm if the result is right.
struct algorithm_calls {
  using call = std::function<void(algorithm_data&)>;

  call serial;
  call ours;
  call parallel_std;  // with std::execution::par, which is oneTBB
  std::function<call(int)> openmp;
  std::function<std::uint64_t(const algorithm_data&)> digest;
  bool in_place = false;
};

// Makes a benchmark of one operation for each element.
benchmark algorithm_benchmark(const std::string& name, const std::shared_ptr<algorithm_data>& data,
                              const algorithm_calls& calls);

// Numbers that depend on the values and their order, or on the values only.
template <class T>
std::uint64_t digest_in_order(const std::vector<T>& values) {
  std::uint64_t sum = 0;
  for (const T& v : values) sum = sum * 6364136223846793005U + static_cast<std::uint64_t>(v);
  return sum;
}
inline std::uint64_t digest_in_any_order(const std::vector<int>& values, std::size_t begin,
                                         std::size_t end) {
  std::uint64_t sum = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const auto x = static_cast<std::uint64_t>(values[i]) * 0x9e3779b97f4a7c15U;
    sum += x ^ (x >> 31);
  }
  return sum;
}

using named_algorithm = std::pair<std::string, algorithm_calls>;
std::vector<named_algorithm> algorithms_on_elements();
std::vector<named_algorithm> algorithms_of_sorting();

}  // namespace bench
