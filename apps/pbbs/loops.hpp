// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parallel operations from which the kernels are built, one class for each variant. All have
// the same functions:
//
//   for_each(n, f)          calls f(i) for all i < n; each call is about the same work
//   for_each_uneven(n, f)   the same for calls that differ in their work
//   scan(in, out)           the sums of the elements before each one; returns the sum of all
//   filter(in, out, pred)   copies the elements that pred selects; returns their number
//   pack(in, flags)         returns the elements whose flag is not 0
//   sort(records)           a stable sort by the keys
//
// The functions f and pred may be called in any order and at the same time, and must not throw.
// `out` of scan may be `in`. `out` of filter must not overlap `in`, and has room for all elements
// that pred selects.

#include <cstddef>
#include <span>
#include <vector>

#include <apgas/apgas.hpp>

#include "pbbs/block_algorithms.hpp"
#include "pbbs/records.hpp"

namespace pbbs {

// The loops and the algorithms of this library. Context of all functions: task; may suspend.
struct apgas_loops {
  template <class F>
  void for_each(std::size_t n, F f) const {
    apgas::forall(std::size_t{0}, n, f);
  }
  template <class F>
  void for_each_uneven(std::size_t n, F f) const {
    apgas::forall(std::size_t{0}, n, f);
  }
  template <class T>
  T scan(std::span<const T> in, std::span<T> out) const {
    if (in.empty()) return T{};
    const T last = in.back();
    apgas::parallel::exclusive_scan(in.begin(), in.end(), out.begin(), T{});
    return out[in.size() - 1] + last;
  }
  template <class T, class Pred>
  std::size_t filter(std::span<const T> in, std::span<T> out, Pred pred) const {
    const auto end = apgas::parallel::copy_if(in.begin(), in.end(), out.begin(), pred);
    return static_cast<std::size_t>(end - out.begin());
  }
  template <class T>
  std::vector<T> pack(std::span<const T> in, std::span<const char> flags) const {
    return apgas::parallel::pack(in, flags);
  }
  void sort(std::span<record> records) const {
    apgas::parallel::integer_sort(records.begin(), records.end(), &record::key);
  }
};

// Adds the algorithms by blocks to a class that has the two loops and threads().
template <class Loops>
struct with_block_algorithms : Loops {
  using Loops::Loops;

  template <class T>
  T scan(std::span<const T> in, std::span<T> out) const {
    return scan_by_blocks<Loops, T>(*this, in, out);
  }
  template <class T, class Pred>
  std::size_t filter(std::span<const T> in, std::span<T> out, Pred pred) const {
    return select_by_blocks<Loops, T>(
        *this, in, [&](std::size_t i) { return pred(in[i]); },
        [&](std::size_t) { return out.data(); });
  }
  template <class T>
  std::vector<T> pack(std::span<const T> in, std::span<const char> flags) const {
    std::vector<T> packed;
    select_by_blocks<Loops, T>(
        *this, in, [&](std::size_t i) { return flags[i] != 0; },
        [&](std::size_t total) {
          packed.resize(total);
          return packed.data();
        });
    return packed;
  }
  void sort(std::span<record> records) const { radix_sort<Loops>(*this, records).sort(); }
};

struct one_thread {
  static int threads() { return 1; }
  template <class F>
  void for_each(std::size_t n, F f) const {
    for (std::size_t i = 0; i < n; ++i) f(i);
  }
  template <class F>
  void for_each_uneven(std::size_t n, F f) const {
    for_each(n, f);
  }
};
using serial_loops = with_block_algorithms<one_thread>;

}  // namespace pbbs
