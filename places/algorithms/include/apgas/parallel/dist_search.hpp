// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <source_location>
#include <span>
#include <utility>

#include <apgas/parallel/search.hpp>
#include <apgas/places/portion_calls.hpp>

// Searches in distributed arrays: min_element and max_element.
namespace apgas::inline v0::remote {

template <class T, class Less>
std::size_t least_element(const char* algorithm, const dist_array<T>& a, Less& less,
                          std::source_location site) {
  sync::suspendable_fiber(algorithm);
  if (portion_of(a).shape.replicated()) {
    const std::span<T> mine = a.local();
    const auto found =
        sync::least_element(algorithm, mine.begin(), mine.end(), less, site) - mine.begin();
    return static_cast<std::size_t>(found);
  }
  // The first of the least elements of a portion, with its index in the whole array.
  const auto there = [](const dist_array<T>& of, Less& order) -> std::pair<T, std::size_t> {
    const std::span<T> mine = of.local();
    const auto found =
        sync::least_element("parallel::min_element", mine.begin(), mine.end(), order, call_site());
    return {*found, of.index_of(static_cast<std::size_t>(found - mine.begin()))};
  };
  const auto results = results_of_portions(a, site, there, less);
  return sync::collecting(site, [&] {
    std::optional<std::pair<T, std::size_t>> least;
    for (const auto& each : results) {
      const std::pair<T, std::size_t>& found = each.value.get();
      const bool less_or_first =
          !least.has_value() || std::invoke(less, found.first, least->first) ||
          (found.second < least->second && !std::invoke(less, least->first, found.first));
      if (less_or_first) least.emplace(found);
    }
    return least.has_value() ? least->second : a.size();
  });
}

}  // namespace apgas::inline v0::remote

namespace apgas::inline v0::parallel {

// Returns the index of the first of the least elements of the array in the order `less`, or
// a.size() if there are none.
//
//   const apgas::dist_array<double> a = measurements();
//   const double least = a.get(apgas::parallel::min_element(a));
//   const double greatest = a.get(apgas::parallel::max_element(a));
//
// Throws, Context: as all algorithms over arrays (dist_algorithms.hpp).
// Cost: one round with one element from each place; none if the array is replicated.
template <class T, class Less = std::less<>>
std::size_t min_element(const dist_array<T>& a, Less less = {},
                        std::source_location site = std::source_location::current()) {
  return remote::least_element("parallel::min_element", a, less, site);
}

// Returns the index of the first of the greatest elements. Everything else is as for min_element.
template <class T, class Less = std::less<>>
std::size_t max_element(const dist_array<T>& a, Less less = {},
                        std::source_location site = std::source_location::current()) {
  sync::reversed<Less> greater{std::move(less)};
  return remote::least_element("parallel::max_element", a, greater, site);
}

}  // namespace apgas::inline v0::parallel
