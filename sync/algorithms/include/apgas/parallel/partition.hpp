// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <ranges>
#include <source_location>
#include <utility>
#include <vector>

#include <apgas/sync/algorithm_ranges.hpp>
#include <apgas/sync/blocks.hpp>
#include <apgas/sync/partition_blocks.hpp>
#include <apgas/sync/scratch.hpp>
#include <apgas/sync/select.hpp>

// Partition: the elements that a predicate accepts before the others.
namespace apgas::inline v0::parallel {

// Reorders [first, last) so that the elements x of which pred(x) is true come before the others,
// and returns the begin of the others. As with std::partition, elements on the same side may be in
// any order; the order is the same in every run with the same number of workers. `pred` is called
// once for each element. Elements need only be movable and swappable.
//
//   std::vector<int> v{1, 2, 3, 4};
//   const auto odd = apgas::parallel::partition(v, [](int i) { return i % 2 == 0; });
//   assert(odd == v.begin() + 2);
//
// Throws: multiple_exceptions if pred or a move threw; the elements are then in another order.
// illegal_operation outside a task and inside `atomic` or `when`.
// Context: task. May suspend and resume on another worker.
// Cost: one pass, and an exchange of the elements that are on the wrong side after it, which are a
// quarter of all elements if half of them are accepted at random. No memory for elements.
template <sync::position I, class Pred>
I partition(I first, I last, Pred pred,
            std::source_location site = std::source_location::current()) {
  sync::require_random_access<I>();
  const std::size_t workers = sync::workers_for("parallel::partition");
  const std::size_t n = sync::size_between(first, last);
  auto accepted = [&pred](auto&& x) { return static_cast<bool>(std::invoke(pred, x)); };
  if (workers == 1) {
    return sync::nth(
        first, sync::collecting(site, [&] { return sync::partition_serial(first, n, accepted); }));
  }
  return sync::nth(first, sync::partition_parallel(first, n, accepted, workers, site));
}

// The same for the elements of a range.
template <std::ranges::range Range, class Pred>
std::ranges::borrowed_iterator_t<Range> partition(
    Range&& range, Pred pred, std::source_location site = std::source_location::current()) {
  return parallel::partition(std::ranges::begin(range), sync::end_of(range), std::move(pred), site);
}

// The same, but the elements on each side keep their order.
//
//   std::vector<int> v{1, 2, 3, 4};
//   apgas::parallel::stable_partition(v, [](int i) { return i % 2 == 0; });  // 2, 4, 1, 3
//
// Throws: as partition; if pred threw, nothing has been moved. std::bad_alloc.
// Context: as partition.
// Cost: memory for all elements and a byte for each; every element is moved twice.
template <sync::position I, class Pred>
I stable_partition(I first, I last, Pred pred,
                   std::source_location site = std::source_location::current()) {
  sync::require_random_access<I>();
  sync::workers_for("parallel::stable_partition");
  const std::size_t n = sync::size_between(first, last);
  const sync::division all = sync::divide(n);
  const auto flags = std::make_unique_for_overwrite<sync::flag[]>(n);
  std::vector<std::size_t> counts(all.blocks());
  sync::for_blocks(all, site, [&](std::size_t k, std::size_t begin, std::size_t end) {
    counts[k] = sync::set_flags(begin, end, flags.get(), [&](std::size_t i) {
      return std::invoke(pred, first[sync::offset<I>(i)]);
    });
  });
  const std::size_t boundary = sync::sum_before(counts);
  sync::scratch<std::iter_value_t<I>> moved(n);
  moved.take(first, site);
  sync::for_blocks(all, site, [&](std::size_t k, std::size_t begin, std::size_t end) {
    std::size_t accepted = counts[k];
    std::size_t other = boundary + begin - counts[k];
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t yes = flags[i];
      const std::size_t to = other ^ ((other ^ accepted) & (0 - yes));  // no branch on the flag
      first[sync::offset<I>(to)] = std::move(moved.data()[i]);
      accepted += yes;
      other += 1 - yes;
    }
  });
  return sync::nth(first, boundary);
}

// The same for the elements of a range.
template <std::ranges::range Range, class Pred>
std::ranges::borrowed_iterator_t<Range> stable_partition(
    Range&& range, Pred pred, std::source_location site = std::source_location::current()) {
  return parallel::stable_partition(std::ranges::begin(range), sync::end_of(range), std::move(pred),
                                    site);
}

}  // namespace apgas::inline v0::parallel
