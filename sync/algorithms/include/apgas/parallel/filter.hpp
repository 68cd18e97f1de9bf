// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
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
#include <apgas/sync/select.hpp>

// The selection of elements: copy_if, filter and pack. A first pass counts the selected elements of
// each block, a second one copies them to where they belong.
namespace apgas::inline v0::sync {

// Copies the selected elements of one group of blocks, which the second pass finds in the cache.
// `source` is the begin of all groups. Returns how many were copied.
template <class I, class O, class Pred>
std::size_t copy_group(I source, std::size_t source_size, std::size_t begin_of_group,
                       const division& group, O out, Pred& pred, flag* flags,
                       std::source_location site) {
  const I first = nth(source, begin_of_group);
  std::vector<std::size_t> counts(group.blocks());
  for_blocks(group, site, [&](std::size_t k, std::size_t begin, std::size_t end) {
    counts[k] = set_flags(begin, end, flags,
                          [&](std::size_t i) { return std::invoke(pred, first[offset<I>(i)]); });
  });
  const std::size_t total = sum_before(counts);
  check_overlap("parallel::copy_if", source, source_size, out, total, in_place::refused);
  for_blocks(group, site, [&](std::size_t k, std::size_t begin, std::size_t end) {
    const O to = nth(out, counts[k]);
    for_selected(begin, end, flags,
                 [&](std::size_t at, std::size_t i) { to[offset<O>(at)] = first[offset<I>(i)]; });
  });
  return total;
}

// Returns the selected elements of n. Those of a type without a default constructor are copied by
// one task, and so are those of bool, because the elements of std::vector<bool> share words.
template <class I, class Flag>
std::vector<std::iter_value_t<I>> packed(I first, const division& all, const Flag* flags,
                                         std::vector<std::size_t>& counts,
                                         std::source_location site) {
  using value = std::iter_value_t<I>;
  const std::size_t total = sum_before(counts);
  std::vector<value> result;
  if constexpr (std::default_initializable<value> && !std::same_as<value, bool>) {
    result.resize(total);
    for_blocks(all, site, [&](std::size_t k, std::size_t begin, std::size_t end) {
      for_selected(begin, end, flags, [&](std::size_t at, std::size_t i) {
        result[counts[k] + at] = first[offset<I>(i)];
      });
    });
  } else {
    result.reserve(total);
    collecting(site, [&] {
      for_selected(0, all.n, flags,
                   [&](std::size_t, std::size_t i) { result.push_back(first[offset<I>(i)]); });
    });
  }
  return result;
}

// Returns the elements i of [first, first + n) for which selected(i) is true.
template <class I, class Selected>
std::vector<std::iter_value_t<I>> select(I first, std::size_t n, Selected selected,
                                         std::source_location site) {
  const division all = divide(n);
  const auto flags = std::make_unique_for_overwrite<flag[]>(n);
  std::vector<std::size_t> counts(all.blocks());
  for_blocks(all, site, [&](std::size_t k, std::size_t begin, std::size_t end) {
    counts[k] = set_flags(begin, end, flags.get(), selected);
  });
  return packed(first, all, flags.get(), counts, site);
}

// Whether a range consists of flags, so that a copy of them is not necessary.
template <class Flags>
concept flags_in_memory =
    std::ranges::contiguous_range<Flags> && std::integral<std::ranges::range_value_t<Flags>> &&
    sizeof(std::ranges::range_value_t<Flags>) == 1;

// Returns the elements of [first, first + n) whose flag is set.
template <class I, class Flag>
std::vector<std::iter_value_t<I>> select_by_flags(I first, std::size_t n, const Flag* flags,
                                                  std::source_location site) {
  const division all = divide(n);
  std::vector<std::size_t> counts(all.blocks());
  for_blocks(all, site, [&](std::size_t k, std::size_t begin, std::size_t end) {
    counts[k] = count_flags(begin, end, flags);
  });
  return packed(first, all, flags, counts, site);
}

}  // namespace apgas::inline v0::sync

namespace apgas::inline v0::parallel {

// Copies the elements x of [first, last) for which pred(x) is true to the elements from `out` on,
// in their order, and returns the end of what was written. `pred` is called once for each element.
// The destination must have room for all selected elements and must not overlap the source.
//
//   std::vector<double> large(x.size());
//   large.erase(apgas::parallel::copy_if(x, large.begin(), [](double v) { return v > 0.5; }),
//               large.end());
//
// Throws: multiple_exceptions if pred or an assignment threw; elements of the destination may then
// have been written. illegal_operation outside a task, inside `atomic` or `when`, and for
// contiguous iterators if the selected elements would be written over the source.
// Context: task. May suspend and resume on another worker.
// Cost: two passes, the second of which finds the elements in the cache, and up to 512 KiB of flags
// for each worker. No branch depends on the choice.
template <sync::position I, sync::position O, class Pred>
O copy_if(I first, I last, O out, Pred pred,
          std::source_location site = std::source_location::current()) {
  sync::require_random_access<I>();
  sync::require_destination<O>();
  const std::size_t workers = sync::workers_for("parallel::copy_if");
  const std::size_t n = sync::size_between(first, last);
  const std::size_t most = 128 * workers * sync::block_elements;
  const auto flags = std::make_unique_for_overwrite<sync::flag[]>(std::min(n, most));
  for (std::size_t begin = 0; begin < n; begin += most) {
    const sync::division group = sync::divide(std::min(n - begin, most));
    out = sync::nth(out, sync::copy_group(first, n, begin, group, out, pred, flags.get(), site));
  }
  return out;
}

// The same for the elements of a range.
template <std::ranges::range Range, sync::position O, class Pred>
O copy_if(Range&& range, O out, Pred pred,
          std::source_location site = std::source_location::current()) {
  return parallel::copy_if(std::ranges::begin(range), sync::end_of(range), out, std::move(pred),
                           site);
}

// Returns the elements x of a range, or of [first, last), for which pred(x) is true, in their
// order. `pred` is called once for each element. ParlayLib's filter.
//
//   const std::vector<double> large = apgas::parallel::filter(x, [](double v) { return v > 0.5; });
//
// Throws: multiple_exceptions if pred, a constructor or an assignment threw; illegal_operation
// outside a task and inside `atomic` or `when`.
// Context: task. May suspend and resume on another worker.
// Cost: two passes, and a byte for each element. The elements of a type without a default
// constructor are copied by one task.
template <std::ranges::range Range, class Pred>
std::vector<std::ranges::range_value_t<Range>> filter(
    Range&& range, Pred pred, std::source_location site = std::source_location::current()) {
  const auto first = std::ranges::begin(range);
  const std::size_t n = sync::size_between(first, sync::end_of(range));
  sync::workers_for("parallel::filter");
  using difference = std::ranges::range_difference_t<Range>;
  const auto selected = [&pred, first](std::size_t i) {
    return std::invoke(pred, first[static_cast<difference>(i)]);
  };
  return sync::select(first, n, selected, site);
}
template <sync::position I, class Pred>
std::vector<std::iter_value_t<I>> filter(
    I first, I last, Pred pred, std::source_location site = std::source_location::current()) {
  return parallel::filter(std::ranges::subrange(first, last), std::move(pred), site);
}

// Returns the elements of a range whose flag is true, in their order. `flags` is a range of the
// same size whose elements convert to bool. ParlayLib's pack.
//
//   const std::vector<int> candidates{3, 5, 8};
//   const std::vector<bool> accepted{true, false, true};
//   const std::vector<int> taken = apgas::parallel::pack(candidates, accepted);  // 3, 8
//
// Throws, Context, Cost: as filter, without the byte for each element if the flags are bytes in
// contiguous memory (char, bool, std::uint8_t); also illegal_operation if the sizes differ.
template <std::ranges::range Range, std::ranges::range Flags>
std::vector<std::ranges::range_value_t<Range>> pack(
    Range&& range, Flags&& flags, std::source_location site = std::source_location::current()) {
  const auto first = std::ranges::begin(range);
  const auto first_flag = std::ranges::begin(flags);
  const std::size_t n = sync::size_between(first, sync::end_of(range));
  const std::size_t m = sync::size_between(first_flag, sync::end_of(flags));
  sync::workers_for("parallel::pack");
  if (n != m) sync::refuse_sizes("parallel::pack", n, m);
  if constexpr (sync::flags_in_memory<Flags>) {
    return sync::select_by_flags(first, n, std::to_address(first_flag), site);
  } else {
    using difference = std::ranges::range_difference_t<Flags>;
    const auto selected = [first_flag](std::size_t i) {
      return static_cast<bool>(first_flag[static_cast<difference>(i)]);
    };
    return sync::select(first, n, selected, site);
  }
}

}  // namespace apgas::inline v0::parallel
