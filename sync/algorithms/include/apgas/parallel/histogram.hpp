// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <ranges>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

#include <apgas/sync/algorithm_ranges.hpp>
#include <apgas/sync/blocks.hpp>

// Counts of the elements that belong to each of a number of buckets.
namespace apgas::inline v0::sync {

// Returns the bucket of a key. Throws: illegal_operation if there is none.
template <std::integral Key>
std::size_t bucket_of(Key key, std::size_t buckets) {
  const auto bucket = static_cast<std::size_t>(key);  // of a negative key: more than any bucket
  if (bucket >= buckets) [[unlikely]]
    refuse_bucket(bucket, buckets, std::is_signed_v<Key> && key < Key{});
  return bucket;
}

// Counts n elements. The parameters are by value, so that they stay in registers.
template <class I, class Key>
void count_keys(I first, std::size_t n, Key& key, std::size_t* counts, std::size_t buckets) {
  const auto count = [&key, first, counts, buckets](std::size_t i) {
    ++counts[bucket_of(std::invoke(key, first[offset<I>(i)]), buckets)];
  };
  std::size_t i = 0;
  for (; n - i >= 4; i += 4) {
    count(i);
    count(i + 1);
    count(i + 2);
    count(i + 3);
  }
  for (; i < n; ++i) count(i);
}

// Returns how many arrays of counters to use: several for each worker, so that the load is
// balanced, but only as many as have fewer counters in all than there are elements to count.
inline std::size_t histogram_arrays(std::size_t n, std::size_t buckets, std::size_t workers) {
  const std::size_t affordable = n / std::max<std::size_t>(buckets, 1);
  return std::clamp<std::size_t>(affordable, 1, workers == 1 ? 1 : 4 * workers);
}

}  // namespace apgas::inline v0::sync

namespace apgas::inline v0::parallel {

// Returns for each bucket b below `buckets` the number of elements x of [first, last) with
// key(x) == b. Without `key`, the elements themselves are integers.
//
//   const std::vector<std::string> words{"to", "be", "or", "not"};
//   const std::vector<std::size_t> lengths =
//       apgas::parallel::histogram(words, 65, [](const std::string& w) { return w.size(); });
//
// Throws: multiple_exceptions if key threw, or with an illegal_operation if it returned no number
// of a bucket; std::bad_alloc; illegal_operation outside a task and inside `atomic` or `when`.
// Context: task. May suspend and resume on another worker.
// Cost: one pass; arrays of `buckets` counters, up to four for each worker, which are added in the
// end. With more buckets than half of the elements, one task counts all of them.
template <sync::position I, class Key = std::identity>
std::vector<std::size_t> histogram(I first, I last, std::size_t buckets, Key key = {},
                                   std::source_location site = std::source_location::current()) {
  sync::require_random_access<I>();
  using result = std::remove_cvref_t<std::invoke_result_t<Key&, std::iter_reference_t<I>>>;
  static_assert(std::integral<result>,
                "apgas: the key function of histogram must return the integer number of a bucket "
                "for an element; use collect_reduce for other keys");
  const std::size_t workers = sync::workers_for("parallel::histogram");
  const std::size_t n = sync::size_between(first, last);
  const std::size_t arrays = sync::histogram_arrays(n, buckets, workers);
  const sync::division all = sync::divide_into(n, arrays, 1);
  std::vector<std::vector<std::size_t>> counts(std::max<std::size_t>(all.blocks(), 1));
  counts[0].resize(buckets);
  sync::for_blocks(all, site, [&](std::size_t k, std::size_t begin, std::size_t end) {
    counts[k].resize(buckets);
    sync::count_keys(sync::nth(first, begin), end - begin, key, counts[k].data(), buckets);
  });
  if (counts.size() > 1) {
    sync::for_blocks(sync::divide(buckets), site,
                     [&](std::size_t, std::size_t begin, std::size_t end) {
                       for (std::size_t k = 1; k < counts.size(); ++k) {
                         for (std::size_t b = begin; b < end; ++b) counts[0][b] += counts[k][b];
                       }
                     });
  }
  return std::move(counts[0]);
}

// The same for the elements of a range.
template <std::ranges::range Range, class Key = std::identity>
std::vector<std::size_t> histogram(Range&& range, std::size_t buckets, Key key = {},
                                   std::source_location site = std::source_location::current()) {
  return parallel::histogram(std::ranges::begin(range), sync::end_of(range), buckets,
                             std::move(key), site);
}

}  // namespace apgas::inline v0::parallel
