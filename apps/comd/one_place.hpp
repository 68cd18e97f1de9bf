// SPDX-License-Identifier: Apache-2.0
#pragma once

// The ways to work on the rows of a single slab in parallel: the forms of tasks that Chapel has,
// OpenMP, and oneTBB.

#include <cstddef>
#include <utility>

#if defined(APPS_TBB)
#include <oneapi/tbb/parallel_for.h>
#endif

#include <apgas/apgas.hpp>

#include "comd/simulate.hpp"

namespace comd {

struct alone {
  template <class T>
  both_sides<T> exchange(both_sides<T> out) const {
    return exchange_with_itself(std::move(out));
  }
};

struct serially : alone {
  template <class F>
  void each(std::size_t n, const F& f) const {
    for (std::size_t i = 0; i < n; ++i) f(i);
  }
};

// Chapel: sync { for i in 0..<n do begin f(i); }
struct by_begin : alone {
  template <class F>
  void each(std::size_t n, const F& f) const {
    apgas::finish([&] {
      for (std::size_t i = 0; i < n; ++i) apgas::begin([&f, i] { f(i); });
    });
  }
};

// Chapel: proc each(first, last) { ... cobegin { each(first, middle); each(middle, last); } }
struct by_cobegin : alone {
  template <class F>
  void each(std::size_t n, const F& f) const {
    halves(0, n, f);
  }

 private:
  template <class F>
  static void halves(std::size_t first, std::size_t last, const F& f) {
    if (last - first == 1) return f(first);
    const std::size_t middle = first + (last - first) / 2;
    apgas::fork_join([&f, first, middle] { halves(first, middle, f); },
                     [&f, middle, last] { halves(middle, last, f); });
  }
};

// Chapel: coforall i in 0..<n do f(i);
struct by_coforall : alone {
  template <class F>
  void each(std::size_t n, const F& f) const {
    apgas::coforall(std::size_t{0}, n, [&f](std::size_t i) { f(i); });
  }
};

// Chapel: forall i in 0..<n do f(i);
struct by_forall : alone {
  template <class F>
  void each(std::size_t n, const F& f) const {
    apgas::forall(std::size_t{0}, n, [&f](std::size_t i) { f(i); });
  }
};

#if defined(_OPENMP)
class by_openmp : public alone {
 public:
  explicit by_openmp(int threads) : threads_(threads) {}

  template <class F>
  void each(std::size_t n, const F& f) const {
#pragma omp parallel for schedule(dynamic) num_threads(threads_)
    for (std::size_t i = 0; i < n; ++i) f(i);
  }

 private:
  int threads_;
};
#endif

#if defined(APPS_TBB)
// In the arena of the caller (support/tbb_arena.hpp).
struct by_tbb : alone {
  template <class F>
  void each(std::size_t n, const F& f) const {
    tbb::parallel_for(std::size_t{0}, n, f);
  }
};
#endif

}  // namespace comd
