// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <ranges>
#include <source_location>
#include <utility>
#include <vector>

#include <apgas/parallel/reduce.hpp>
#include <apgas/sync/algorithm_ranges.hpp>
#include <apgas/sync/blocks.hpp>

// Prefix sums: inclusive_scan and exclusive_scan. With several workers a scan has two passes: the
// first reduces each block, the second scans each block from the sum of the blocks before it. It
// does so for one group of blocks after another, each group small enough that the second pass finds
// it in the cache, so that every element comes from memory once. With one worker it is a serial
// scan.
namespace apgas::inline v0::sync {

enum class scan_kind : bool { inclusive, exclusive };

// Scans n elements from the sum `carry` of those before on, which an exclusive scan must have, and
// sets carry to the sum of all. Source and destination may begin at the same element. It is not
// inlined into the code that splits a loop, which would keep the sum in memory: then every element
// waits for the store of the one before. The loop takes four elements in each iteration, so that it
// is as fast where its few instructions lie across two lines of the instruction cache.
template <scan_kind Kind, class T, class I, class O, class Op>
[[gnu::noinline]] void scan_block(I first, std::size_t n, O out, std::optional<T>& carry, Op& op) {
  if (n == 0) return;
  std::size_t i = 0;
  if constexpr (Kind == scan_kind::inclusive) {
    if (!carry.has_value()) {
      carry.emplace(*first);
      *out = *carry;
      i = 1;
    }
  }
  T sum = *std::move(carry);
#pragma GCC unroll 4
  for (; i < n; ++i) {
    auto&& x = first[offset<I>(i)];
    if constexpr (Kind == scan_kind::inclusive) {
      sum = op(std::move(sum), std::forward<decltype(x)>(x));
      out[offset<O>(i)] = sum;
    } else {
      T before = std::move(sum);
      sum = op(std::as_const(before), std::forward<decltype(x)>(x));
      out[offset<O>(i)] = std::move(before);
    }
  }
  carry = std::move(sum);
}

// Scans one group of blocks, and sets carry to the sum of all elements up to its end.
template <scan_kind Kind, class T, class I, class O, class Op>
void scan_group(I first, const division& group, O out, std::optional<T>& carry, Op& op,
                std::source_location site) {
  const auto at = [first](std::size_t i) -> decltype(auto) { return first[offset<I>(i)]; };
  std::vector<std::optional<T>> sums(group.blocks());  // the sum up to the end of each block
  sums[0] = std::move(carry);
  for_blocks(group, site, [&](std::size_t k, std::size_t begin, std::size_t end) {
    if (k == 0) {
      scan_block<Kind>(first, end, out, sums[0], op);
    } else if (end < group.n) {
      sums[k].emplace(fold<T>(begin, end, at, op));
    }
  });
  for (std::size_t k = 1; k + 1 < sums.size(); ++k) {
    sums[k].emplace(op(std::as_const(*sums[k - 1]), *std::move(sums[k])));
  }
  std::optional<T> last = sums.size() == 1 ? std::move(sums[0]) : std::nullopt;
  const division rest{group.n - std::min(group.size, group.n), group.size};
  for_blocks(rest, site, [&](std::size_t k, std::size_t begin, std::size_t end) {
    std::optional<T> sum = std::move(sums[k]);
    scan_block<Kind>(nth(first, group.size + begin), end - begin, nth(out, group.size + begin), sum,
                     op);
    if (end == rest.n) last = std::move(sum);
  });
  carry = std::move(last);
}

// Scans n elements with all workers from the sum `carry` of those before on, and sets it to the sum
// of all. Throws, Context: as for_blocks.
template <scan_kind Kind, class T, class I, class O, class Op>
void scan_from(I first, std::size_t n, O out, std::optional<T>& carry, Op& op, std::size_t workers,
               std::source_location site) {
  constexpr std::size_t cached = std::max<std::size_t>(1, std::size_t{1024} * 1024 / sizeof(T));
  const std::size_t blocks = 8 * workers;
  const std::size_t size = std::clamp<std::size_t>(n / blocks, 1, cached);
  collecting(site, [&] {
    if (workers == 1) return scan_block<Kind>(first, n, out, carry, op);
    for (std::size_t begin = 0; begin < n; begin += size * blocks) {
      const division group{std::min(n - begin, size * blocks), size};
      scan_group<Kind>(nth(first, begin), group, nth(out, begin), carry, op, site);
    }
  });
}

template <scan_kind Kind, class T, class I, class O, class Op>
O scan(const char* algorithm, I first, I last, O out, std::optional<T> carry, Op& op,
       std::source_location site) {
  require_random_access<I>();
  require_destination<O>();
  const std::size_t workers = workers_for(algorithm);
  const std::size_t n = size_between(first, last);
  check_overlap(algorithm, first, n, out, n, in_place::allowed);
  scan_from<Kind>(first, n, out, carry, op, workers, site);
  return nth(out, n);
}

}  // namespace apgas::inline v0::sync

namespace apgas::inline v0::parallel {

// Assigns to each element from `out` on the result of `op` over all elements of [first, last) up to
// and including the one at the same position, and returns the end of what was written. With `init`,
// the results begin with it. `op` must be associative but need not be commutative. `out` may be
// `first`; otherwise the destination must not overlap the source. An `op` that is only nearly
// associative, such as the addition of floating-point numbers, may give other roundings with
// another number of workers, but the same in every run with the same number.
//
//   std::vector<double> sums(x.size());
//   apgas::parallel::inclusive_scan(x, sums.begin());
//
// Throws: multiple_exceptions if op or an assignment threw; the elements of the destination then
// have old or new values. illegal_operation outside a task, inside `atomic` or `when`, and for
// contiguous iterators if the destination overlaps the source and `out` is not `first`.
// Context: task. May suspend and resume on another worker.
// Cost: with one worker that of std::inclusive_scan; with several, twice the calls of op, while
// each element is read from memory once.
template <sync::position I, sync::position O, class Op = std::plus<>>
O inclusive_scan(I first, I last, O out, Op op = {},
                 std::source_location site = std::source_location::current()) {
  return sync::scan<sync::scan_kind::inclusive, std::iter_value_t<I>>(
      "parallel::inclusive_scan", first, last, out, std::nullopt, op, site);
}
template <sync::position I, sync::position O, class Op, class T>
  requires(!std::same_as<T, std::source_location>)
O inclusive_scan(I first, I last, O out, Op op, T init,
                 std::source_location site = std::source_location::current()) {
  return sync::scan<sync::scan_kind::inclusive, T>("parallel::inclusive_scan", first, last, out,
                                                   std::optional<T>(std::move(init)), op, site);
}

// The same for the elements of a range.
template <std::ranges::range Range, sync::position O, class Op = std::plus<>>
O inclusive_scan(Range&& range, O out, Op op = {},
                 std::source_location site = std::source_location::current()) {
  return parallel::inclusive_scan(std::ranges::begin(range), sync::end_of(range), out,
                                  std::move(op), site);
}
template <std::ranges::range Range, sync::position O, class Op, class T>
  requires(!std::same_as<T, std::source_location>)
O inclusive_scan(Range&& range, O out, Op op, T init,
                 std::source_location site = std::source_location::current()) {
  return parallel::inclusive_scan(std::ranges::begin(range), sync::end_of(range), out,
                                  std::move(op), std::move(init), site);
}

// Assigns to each element from `out` on the result of `op` over `init` and all elements of
// [first, last) before the one at the same position, and returns the end of what was written.
// Everything else is as for inclusive_scan.
//
//   const std::vector<std::size_t> sizes{3, 1, 2};
//   std::vector<std::size_t> offsets(sizes.size());
//   apgas::parallel::exclusive_scan(sizes, offsets.begin(), std::size_t{0});  // 0, 3, 4
template <sync::position I, sync::position O, class T, class Op = std::plus<>>
O exclusive_scan(I first, I last, O out, T init, Op op = {},
                 std::source_location site = std::source_location::current()) {
  return sync::scan<sync::scan_kind::exclusive, T>("parallel::exclusive_scan", first, last, out,
                                                   std::optional<T>(std::move(init)), op, site);
}
template <std::ranges::range Range, sync::position O, class T, class Op = std::plus<>>
O exclusive_scan(Range&& range, O out, T init, Op op = {},
                 std::source_location site = std::source_location::current()) {
  return parallel::exclusive_scan(std::ranges::begin(range), sync::end_of(range), out,
                                  std::move(init), std::move(op), site);
}

}  // namespace apgas::inline v0::parallel
