// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <source_location>

#include <apgas/fork_join.hpp>
#include <apgas/sync/algorithm_ranges.hpp>
#include <apgas/sync/blocks.hpp>
#include <apgas/sync/merge_blocks.hpp>
#include <apgas/sync/quick_sort.hpp>

// Merge sort, for parallel::stable_sort. Both halves are sorted in parallel and merged from the
// sequence into a buffer of the same size, or back.
namespace apgas::inline v0::sync {

template <class I, class Buffer, class Comp>
class merge_sort {
 public:
  // For the sort of n elements by that many workers.
  merge_sort(Comp& comp, std::size_t n, std::size_t workers, std::source_location site)
      : comp_(comp),
        site_(site),
        many_(workers == 1 ? n : std::max(std::size_t{1} << 16, n / (4 * workers))) {}

  // Sorts the n elements at `from` in place. `buffer` has as many elements, whose values are
  // overwritten.
  void sort_back(I from, std::size_t n, Buffer buffer) {
    if (n <= few) return insertion_sort(from, nth(from, n), comp_);
    const std::size_t half = n / 2;
    sort_halves(
        n, [=, this] { sort_into(nth(from, half), n - half, nth(buffer, half)); },
        [=, this] { sort_into(from, half, buffer); });
    merge_halves(buffer, n, from);
  }

  // The same, but the result is left in the buffer.
  void sort_into(I from, std::size_t n, Buffer buffer) {
    if (n <= few) {
      insertion_sort(from, nth(from, n), comp_);
      std::move(from, nth(from, n), buffer);
      return;
    }
    const std::size_t half = n / 2;
    sort_halves(
        n, [=, this] { sort_back(nth(from, half), n - half, nth(buffer, half)); },
        [=, this] { sort_back(from, half, buffer); });
    merge_halves(from, n, buffer);
  }

 private:
  static constexpr std::size_t few = cheap_elements<I> ? 16 : 24;
  static constexpr std::size_t grain = 2048;

  template <class Right, class Left>
  void sort_halves(std::size_t n, Right right, Left left) {
    if (n > grain) {
      fork_join(right, left, site_);
    } else {
      left();
      right();
    }
  }

  template <class From, class To>
  void merge_halves(From from, std::size_t n, To to) {
    const std::size_t half = n / 2;
    const sorted<From> left{from, half};
    const sorted<From> right{nth(from, half), n - half};
    if (!comp_(right.first[0], from[offset<From>(half - 1)])) {
      move_all(from, n, to);
    } else if (n > many_) {
      merge_parallel<true>(left, right, to, comp_, site_);
    } else if constexpr (cheap_merge<From, From, To>) {
      merge_from_both_ends(from, n, to, comp_);
    } else {
      merge_serial<true>(left, right, to, comp_);
    }
  }

  template <class From, class To>
  void move_all(From from, std::size_t n, To to) {
    const auto part = [&](std::size_t, std::size_t begin, std::size_t end) {
      std::move(nth(from, begin), nth(from, end), nth(to, begin));
    };
    if (n > many_) {
      for_blocks(divide(n), site_, part);
    } else {
      part(0, 0, n);
    }
  }

  Comp& comp_;
  std::source_location site_;
  std::size_t many_;  // longer sequences are merged by several workers
};

}  // namespace apgas::inline v0::sync
