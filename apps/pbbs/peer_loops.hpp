// SPDX-License-Identifier: Apache-2.0
#pragma once

// The loops of loops.hpp by OpenMP and by oneTBB, if the program is built with them.

#include <algorithm>
#include <cstddef>
#include <span>

#if defined(APPS_TBB)
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_scan.h>
#endif

#include "pbbs/loops.hpp"

namespace pbbs {

class some_threads {
 public:
  explicit some_threads(int threads) : threads_(threads) {}
  [[nodiscard]] int threads() const { return threads_; }

 private:
  int threads_;
};

#if defined(_OPENMP)
struct openmp_for : some_threads {
  using some_threads::some_threads;

  template <class F>
  void for_each(std::size_t n, F f) const {
#pragma omp parallel for num_threads(threads()) schedule(static)
    for (std::size_t i = 0; i < n; ++i) f(i);
  }
  template <class F>
  void for_each_uneven(std::size_t n, F f) const {
    const auto pieces = 64 * static_cast<std::size_t>(threads());
    const std::size_t chunk = std::clamp<std::size_t>(n / pieces, 1, 4096);
#pragma omp parallel for num_threads(threads()) schedule(dynamic, chunk)
    for (std::size_t i = 0; i < n; ++i) f(i);
  }
};
using openmp_loops = with_block_algorithms<openmp_for>;
#endif

#if defined(APPS_TBB)
// Requires: the caller limits the threads of oneTBB to the same number.
struct tbb_for : some_threads {
  using some_threads::some_threads;

  template <class F>
  void for_each(std::size_t n, F f) const {
    using range = tbb::blocked_range<std::size_t>;
    tbb::parallel_for(range(0, n), [&f](const range& r) {
      for (std::size_t i = r.begin(); i < r.end(); ++i) f(i);
    });
  }
  template <class F>
  void for_each_uneven(std::size_t n, F f) const {
    for_each(n, f);
  }
};

// oneTBB has a scan of its own.
struct tbb_loops : with_block_algorithms<tbb_for> {
  using with_block_algorithms<tbb_for>::with_block_algorithms;

  template <class T>
  T scan(std::span<const T> in, std::span<T> out) const {
    using range = tbb::blocked_range<std::size_t>;
    return tbb::parallel_scan(
        range(0, in.size(), 1024), T{},
        [&](const range& r, T sum, bool final) {
          for (std::size_t i = r.begin(); i < r.end(); ++i) {
            const T x = in[i];
            if (final) out[i] = sum;
            sum += x;
          }
          return sum;
        },
        [](T left, T right) { return left + right; });
  }
};
#endif

}  // namespace pbbs
