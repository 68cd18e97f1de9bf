// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <source_location>
#include <utility>
#include <vector>

#include <apgas/parallel/histogram.hpp>
#include <apgas/places/portion_calls.hpp>

// Counts of the elements of a distributed array that belong to each of a number of buckets.
namespace apgas::inline v0::parallel {

// Returns for each bucket b below `buckets` the number of elements x of the array with key(x) == b.
// Without `key`, the elements themselves are integers.
//
//   const apgas::dist_array<person> people = all_people();
//   const std::vector<std::size_t> ages =
//       apgas::parallel::histogram(people, 120, [](const person& p) { return p.age; });
//
// Throws: as all algorithms over arrays (dist_algorithms.hpp). The multiple_exceptions contains an
// illegal_operation if key returned a number that is not that of a bucket. std::bad_alloc, alone or
// in the multiple_exceptions, if there is no memory for the counters.
// Context: as all of them.
// Cost: each place counts as the histogram of a range does (histogram.hpp). One round, in which
// each place that has elements sends back `buckets` counters; the caller holds all of them at the
// same time and adds them by one task. No messages if the array is replicated.
template <class T, class Key = std::identity>
std::vector<std::size_t> histogram(const dist_array<T>& a, std::size_t buckets, Key key = {},
                                   std::source_location site = std::source_location::current()) {
  sync::suspendable_fiber("parallel::histogram");
  if (remote::portion_of(a).shape.replicated()) {
    return parallel::histogram(a.local(), buckets, std::move(key), site);
  }
  const auto there = [](const dist_array<T>& of, std::size_t count, Key& bucket_of) {
    return parallel::histogram(of.local(), count, bucket_of, remote::call_site());
  };
  std::vector<std::size_t> counts(buckets);
  for (const auto& each : remote::results_of_portions(a, site, there, buckets, key)) {
    const std::vector<std::size_t>& of_portion = each.value.get();
    for (std::size_t b = 0; b < buckets; ++b) counts[b] += of_portion[b];
  }
  return counts;
}

}  // namespace apgas::inline v0::parallel
