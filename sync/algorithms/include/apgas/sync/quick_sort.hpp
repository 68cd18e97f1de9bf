// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

#include <apgas/fork_join.hpp>
#include <apgas/sync/algorithm_ranges.hpp>
#include <apgas/sync/blocks.hpp>
#include <apgas/sync/partition_blocks.hpp>

// Quicksort in place, for parallel::sort. It follows pdqsort (O. Peters, "Pattern-defeating
// Quicksort", 2021): elements equal to the pivot before them are set aside, so that few distinct
// values take linear time, and a heapsort follows too many uneven partitions. Long sequences are
// partitioned by all workers; both sides are sorted in parallel.
namespace apgas::inline v0::sync {

// Sorts a few elements, up to some tens. Stable.
template <class I, class Comp>
void insertion_sort(I first, I last, Comp& comp) {
  if (first == last) return;
  for (I i = first + 1; i < last; ++i) {
    if (!comp(*i, *(i - 1))) continue;
    auto x = std::move(*i);
    I hole = i;
    try {
      do {
        *hole = std::move(*(hole - 1));
        --hole;
      } while (hole != first && comp(x, *(hole - 1)));
    } catch (...) {
      *hole = std::move(x);  // comp threw: no element is lost
      throw;
    }
    *hole = std::move(x);
  }
}

template <class I, class Comp>
class quick_sort {
 public:
  quick_sort(Comp& comp, std::size_t workers, std::source_location site)
      : comp_(comp), workers_(workers), site_(site) {}

  void sort(I first, I last) {
    const std::size_t n = size_between(first, last);
    if (n < 2 || std::is_sorted(first, last, less())) return;
    sort(first, last, 2 * static_cast<int>(std::bit_width(n)), false);
  }

 private:
  static constexpr std::size_t few = 24;
  static constexpr std::size_t grain = 2048;  // about 50 us to sort, and 2 ns to offer to a thief
  // From here on the partition takes a millisecond, so that its three loops are worth starting.
  static constexpr std::size_t many = std::size_t{1} << 18;

  // A comparison that takes its operands by reference, for the algorithms of std.
  auto less() {
    return [this](auto&& a, auto&& b) { return static_cast<bool>(comp_(a, b)); };
  }

  // `behind_pivot`: the element before first belongs to the whole sequence and is not greater than
  // any of [first, last). `uneven` more uneven partitions are allowed.
  void sort(I first, I last, int uneven, bool behind_pivot) {
    for (;;) {
      const std::size_t n = size_between(first, last);
      if (n <= few) return insertion_sort(first, last, comp_);
      choose_pivot(first, n);
      if (behind_pivot && !comp_(*(first - 1), *first)) {
        first = skip_equal(first, n);
        continue;
      }
      const I middle = partition(first, n);
      const std::size_t left = size_between(first, middle);
      const std::size_t right = n - left - 1;
      if (std::min(left, right) < n / 8) {
        if (--uneven == 0) return heap_sort(first, last);
        shuffle(first, left);
        shuffle(middle + 1, right);
      }
      if (n > grain) {
        fork_join([this, middle, last, uneven] { sort(middle + 1, last, uneven, true); },
                  [this, first, middle, uneven, behind_pivot] {
                    sort(first, middle, uneven, behind_pivot);
                  },
                  site_);
        return;
      }
      sort(first, middle, uneven, behind_pivot);
      first = middle + 1;
      behind_pivot = true;
    }
  }

  void order(I a, I b) {
    if (comp_(*b, *a)) std::iter_swap(a, b);
  }
  // Brings the median of three elements to b.
  void median(I a, I b, I c) {
    order(a, b);
    order(b, c);
    order(a, b);
  }

  // Brings to `first` the median of three elements, or of three such medians.
  void choose_pivot(I first, std::size_t n) {
    const I middle = nth(first, n / 2);
    const I back = nth(first, n - 1);
    median(first, middle, back);
    if (n > 128) {
      median(first + 1, middle - 1, back - 1);
      median(first + 2, middle + 1, back - 2);
      median(middle - 1, middle, middle + 1);
    }
    std::iter_swap(first, middle);
  }

  template <class Pred>
  std::size_t divide_by(I first, std::size_t n, Pred pred) {
    if (workers_ > 1 && n > many) return partition_parallel(first, n, pred, workers_, site_);
    return partition_serial(first, n, pred);
  }

  // Partitions by the pivot at `first`, and returns where it belongs and then is.
  I partition(I first, std::size_t n) {
    std::size_t smaller = 0;
    if constexpr (cheap_elements<I>) {
      const auto pivot = *first;
      smaller =
          divide_by(first + 1, n - 1, [this, pivot](const auto& x) { return comp_(x, pivot); });
    } else {
      smaller = divide_by(first + 1, n - 1, [this, first](auto&& x) { return comp_(x, *first); });
    }
    const I middle = nth(first, smaller);
    if (middle != first) std::iter_swap(first, middle);
    return middle;
  }

  // All elements are at least as great as the pivot at `first`. Brings those equal to it to the
  // front, and returns the begin of the others.
  I skip_equal(I first, std::size_t n) {
    return nth(first, 1 + divide_by(first + 1, n - 1,
                                    [this, first](auto&& x) { return !comp_(*first, x); }));
  }

  // Exchanges some elements so that the pattern that made the partition uneven is broken.
  static void shuffle(I first, std::size_t n) {
    if (n < few) return;
    const std::size_t step = n / 4;
    for (std::size_t k = 0; k < 3; ++k) {
      std::iter_swap(nth(first, k), nth(first, step + k));
      std::iter_swap(nth(first, n - 1 - k), nth(first, n - step - k));
    }
  }

  void heap_sort(I first, I last) {
    std::make_heap(first, last, less());
    std::sort_heap(first, last, less());
  }

  Comp& comp_;
  std::size_t workers_;
  std::source_location site_;
};

}  // namespace apgas::inline v0::sync
