// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <source_location>
#include <span>

#include <apgas/fork_join.hpp>
#include <apgas/parallel/merge.hpp>

// The merge of several sorted runs into one: the last step of the sort of a dist_array at a place.
namespace apgas::inline v0::remote {

// The array in which merge_runs leaves the merged elements.
enum class merge_into : bool { runs, result };

// Merges the sorted runs [bounds[i], bounds[i + 1]) of the array `runs` into the array that `into`
// names, at the positions from bounds.front() to bounds.back(). Both arrays have the same size and
// are overwritten. The first and the second half of the runs are merged in parallel, each into the
// other array, and then both together into the named one.
//
// Requires: at least one run.
// Throws: multiple_exceptions with what comp threw; the named array then has all elements, in
// another order.
// Context: task; may suspend and resume on another worker.
// Cost: each element is moved about log2(runs) times.
template <class T, class Comp>
void merge_runs(std::span<const std::size_t> bounds, T* runs, T* result, merge_into into,
                Comp& comp, std::source_location site) {
  const std::size_t count = bounds.size() - 1;
  T* const to = into == merge_into::result ? result : runs;
  T* const from = into == merge_into::result ? runs : result;
  const std::size_t begin = bounds.front();
  const std::size_t end = bounds.back();
  if (count == 1) {
    if (into == merge_into::result) std::copy(runs + begin, runs + end, result + begin);
    return;
  }
  const merge_into other = into == merge_into::result ? merge_into::runs : merge_into::result;
  const auto left = bounds.first(count / 2 + 1);
  const auto right = bounds.subspan(count / 2);
  const std::size_t middle = right.front();
  try {
    fork_join([&, right] { merge_runs(right, runs, result, other, comp, site); },
              [&, left] { merge_runs(left, runs, result, other, comp, site); }, site);
    const auto less = [&comp](const T& a, const T& b) { return comp(a, b); };
    parallel::merge(from + begin, from + middle, from + middle, from + end, to + begin, less, site);
  } catch (...) {
    std::copy(from + begin, from + end, to + begin);  // no element is lost
    throw;
  }
}

}  // namespace apgas::inline v0::remote
