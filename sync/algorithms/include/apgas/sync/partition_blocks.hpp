// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

#include <apgas/sync/algorithm_ranges.hpp>
#include <apgas/sync/blocks.hpp>

// Partition in place, for partition and sort. Each block is partitioned by itself. Then the
// elements of which the predicate is false and that lie before the final boundary are exchanged
// with as many others behind it.
namespace apgas::inline v0::sync {

// Whether an element is copied as cheaply as an index, so that a loop which always copies is faster
// than one whose branches the processor mispredicts.
template <class I>
inline constexpr bool cheap_elements =
    std::is_trivially_copyable_v<std::iter_value_t<I>> && sizeof(std::iter_value_t<I>) <= 16 &&
    std::is_lvalue_reference_v<std::iter_reference_t<I>>;

// Moves the elements x of which pred(x) is true before the others, by one task, and returns their
// number. Without branches if elements are cheap (the method of Lomuto).
template <class I, class Pred>
std::size_t partition_serial(I first, std::size_t n, Pred& pred) {
  if constexpr (cheap_elements<I>) {
    I to = first;
    for (I i = first, end = nth(first, n); i != end; ++i) {
      const std::iter_value_t<I> x = *i;
      const bool before = static_cast<bool>(pred(x));
      *i = *to;
      *to = x;
      to += before;
    }
    return static_cast<std::size_t>(to - first);
  } else {
    const auto by_reference = [&pred](auto&& x) { return static_cast<bool>(pred(x)); };
    return static_cast<std::size_t>(std::partition(first, nth(first, n), by_reference) - first);
  }
}

// Elements on the wrong side of the boundary, next to each other.
struct misplaced {
  std::size_t begin;
  std::size_t rank;  // the number of misplaced elements of this side before them
};

// The misplaced elements of one side.
class misplaced_side {
 public:
  void add(std::size_t begin, std::size_t end) {
    if (begin >= end) return;
    runs_.push_back({begin, size_});
    size_ += end - begin;
  }
  [[nodiscard]] std::size_t size() const { return size_; }

  // Returns the position of the misplaced element of that rank, and sets `left` to the number of
  // misplaced elements that lie there next to each other.
  [[nodiscard]] std::size_t find(std::size_t rank, std::size_t& left) const {
    auto after = std::ranges::upper_bound(runs_, rank, {}, &misplaced::rank);
    left = (after == runs_.end() ? size_ : after->rank) - rank;
    --after;
    return after->begin + (rank - after->rank);
  }

 private:
  std::vector<misplaced> runs_;
  std::size_t size_ = 0;
};

// The same as partition_serial, in parallel. Throws, Context: as for_blocks; if pred throws, the
// elements are in another order.
template <class I, class Pred>
std::size_t partition_parallel(I first, std::size_t n, Pred& pred, std::size_t workers,
                               std::source_location site) {
  const division all = divide_into(n, 8 * workers, n < block_elements ? n / 8 : block_elements);
  std::vector<std::size_t> counts(all.blocks());
  for_blocks(all, site, [&](std::size_t k, std::size_t begin, std::size_t end) {
    counts[k] = partition_serial(nth(first, begin), end - begin, pred);
  });
  std::size_t boundary = 0;
  for (const std::size_t each : counts) boundary += each;
  misplaced_side before;
  misplaced_side behind;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const std::size_t inner = all.begin(k) + counts[k];
    before.add(inner, std::min(all.end(k), boundary));
    behind.add(std::max(all.begin(k), boundary), inner);
  }
  for_blocks(divide(before.size()), site, [&](std::size_t, std::size_t rank, std::size_t end) {
    while (rank < end) {
      std::size_t left = 0;
      std::size_t right = 0;
      const std::size_t a = before.find(rank, left);
      const std::size_t b = behind.find(rank, right);
      const std::size_t m = std::min({left, right, end - rank});
      std::swap_ranges(nth(first, a), nth(first, a + m), nth(first, b));
      rank += m;
    }
  });
  return boundary;
}

}  // namespace apgas::inline v0::sync
