// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

#include <apgas/sync/algorithm_ranges.hpp>
#include <apgas/sync/blocks.hpp>
#include <apgas/sync/partition_blocks.hpp>

// The merge of two sorted sequences, for merge and stable_sort. The output is divided into blocks,
// and a binary search finds which elements of both inputs a block consists of (the co-ranks of its
// ends; Siebert and Traeff, "Efficient MPI implementation of a parallel, stable merge algorithm",
// EuroMPI 2012).
namespace apgas::inline v0::sync {

// A sorted sequence of n elements.
template <class I>
struct sorted {
  I first;
  std::size_t n;
};

// Returns how many of the first `rank` elements of the merged sequence come from `a`. Equal
// elements come from `a` before those from `b`.
template <class A, class B, class Comp>
std::size_t co_rank(std::size_t rank, const sorted<A>& a, const sorted<B>& b, Comp& comp) {
  std::size_t low = rank > b.n ? rank - b.n : 0;
  std::size_t high = std::min(rank, a.n);
  while (low < high) {
    const std::size_t i = low + (high - low) / 2;
    if (comp(b.first[offset<B>(rank - i - 1)], a.first[offset<A>(i)])) {
      high = i;
    } else {
      low = i + 1;
    }
  }
  return low;
}

// Whether elements of A and B are copied to O without a conversion and as cheaply as an index.
template <class A, class B, class O>
inline constexpr bool cheap_merge =
    cheap_elements<A> && std::is_same_v<std::iter_value_t<A>, std::iter_value_t<B>> &&
    std::is_same_v<std::iter_value_t<A>, std::iter_value_t<O>>;

// Takes `steps` elements, of which each may come from a or from b, without a branch on the order.
template <class A, class B, class O, class Comp>
[[gnu::always_inline]] inline void take_without_branch(A& a, B& b, O& out, std::size_t steps,
                                                       Comp& comp) {
  for (; steps != 0; --steps) {
    const std::iter_value_t<A> left = *a;
    const std::iter_value_t<B> right = *b;
    const bool from_b = static_cast<bool>(comp(right, left));
    *out = from_b ? right : left;
    ++out;
    a += !from_b;
    b += from_b;
  }
}

// Merges two sorted sequences by one task: moves the elements if Move, otherwise copies them.
template <bool Move, class A, class B, class O, class Comp>
void merge_serial(const sorted<A>& x, const sorted<B>& y, O out, Comp& comp) {
  A a = x.first;
  B b = y.first;
  const A a_end = nth(x.first, x.n);
  const B b_end = nth(y.first, y.n);
  if constexpr (cheap_merge<A, B, O>) {
    // As many steps as there are elements in the shorter sequence cannot pass the end of any.
    while (a != a_end && b != b_end) {
      take_without_branch(a, b, out, std::min(size_between(a, a_end), size_between(b, b_end)),
                          comp);
    }
    out = std::copy(a, a_end, out);
    std::copy(b, b_end, out);
  } else if constexpr (Move) {
    std::merge(std::make_move_iterator(a), std::make_move_iterator(a_end),
               std::make_move_iterator(b), std::make_move_iterator(b_end), out,
               [&comp](auto&& l, auto&& r) { return static_cast<bool>(comp(l, r)); });
  } else {
    std::merge(a, a_end, b, b_end, out, std::ref(comp));
  }
}

// Merges two adjacent sorted sequences of n / 2 and n - n / 2 cheap elements, from both ends at the
// same time, so that the processor works on two chains of comparisons. No end needs to be checked:
// n / 2 steps cannot pass the end of any sequence.
template <class I, class O, class Comp>
void merge_from_both_ends(I from, std::size_t n, O to, Comp& comp) {
  using value = std::iter_value_t<I>;
  using index = std::ptrdiff_t;
  const auto size = static_cast<index>(n);
  const index half = size / 2;
  index a = 0;
  index b = half;
  index a_back = half - 1;
  index b_back = size - 1;
  for (index k = 0; k < half; ++k) {
    const value left = from[a];
    const value right = from[b];
    const bool from_b = static_cast<bool>(comp(right, left));
    to[k] = from_b ? right : left;
    a += !from_b;
    b += from_b;
    const value last_left = from[a_back];
    const value last_right = from[b_back];
    const bool from_a = static_cast<bool>(comp(last_right, last_left));
    to[size - 1 - k] = from_a ? last_left : last_right;
    a_back -= from_a;
    b_back -= !from_a;
  }
  if (size % 2 != 0) to[half] = a > a_back ? from[b] : from[a];
}

// Merges two sorted sequences in parallel. All co-ranks are found before the first element is
// moved. Throws, Context: as for_blocks.
template <bool Move, class A, class B, class O, class Comp>
void merge_parallel(const sorted<A>& a, const sorted<B>& b, O out, Comp& comp,
                    std::source_location site) {
  const division all = divide(a.n + b.n, 4 * block_elements);
  std::vector<std::size_t> from_a(all.blocks() + 1, a.n);
  for_blocks(all, site, [&](std::size_t k, std::size_t begin, std::size_t) {
    from_a[k] = co_rank(begin, a, b, comp);
  });
  for_blocks(all, site, [&](std::size_t k, std::size_t begin, std::size_t end) {
    const std::size_t i = from_a[k];
    const std::size_t j = begin - i;
    const sorted<A> left{nth(a.first, i), from_a[k + 1] - i};
    const sorted<B> right{nth(b.first, j), end - from_a[k + 1] - j};
    merge_serial<Move>(left, right, nth(out, begin), comp);
  });
}

}  // namespace apgas::inline v0::sync
