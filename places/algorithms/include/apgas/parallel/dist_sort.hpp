// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <source_location>

#include <apgas/parallel/sort.hpp>
#include <apgas/places/portion_sort.hpp>

// The sort of a distributed array.
namespace apgas::inline v0::parallel {

// Sorts the elements of the array in the order `comp`. Each place has as many elements as before.
// Equal elements may come in any order.
//
//   apgas::parallel::sort(a);
//   apgas::parallel::sort(people, [](const person& x, const person& y) { return x.age < y.age; });
//
// Requires: comp is a strict weak order, as for std::sort; so no floating-point element is NaN.
// Throws: as all algorithms over arrays (dist_algorithms.hpp); if comp threw, all elements are
// there, in another order. Also std::bad_alloc; serialization_error if more than 1 GiB must be
// moved between two places that cannot read each other's memory; illegal_operation if the search
// for the cuts finds that comp is not a strict weak order.
// Context: as all of them.
// Cost: the sort of each portion, and memory for as many elements. With a block distribution each
// element is moved between places at most once. Four rounds, about one more for each factor of 16
// in the number of elements, and a message each way between every two places that exchange
// elements. With another distribution each element is moved twice, and there are two rounds more.
template <class T, class Comp = std::less<>>
void sort(const dist_array<T>& a, Comp comp = {},
          std::source_location site = std::source_location::current()) {
  sync::suspendable_fiber("parallel::sort");
  const remote::array_portion<T>& here = remote::portion_of(a);
  if (here.shape.replicated() || here.shape.portions() == 1) {
    return remote::at_portions(
        a, site,
        [](const dist_array<T>& of, const Comp& order) {
          parallel::sort(of.local(), order, remote::call_site());
        },
        comp);
  }
  const auto buffers = remote::sort_buffers<T>::make(
      here.group,
      [](const dist_array<T>& of, const Comp& order) {
        parallel::sort(of.local(), order, remote::call_site());
        return std::make_unique_for_overwrite<T[]>(of.local().size());
      },
      a, comp);
  std::exception_ptr failure;
  try {
    remote::sort_between_places(a, buffers, comp, site);
  } catch (...) {
    failure = std::current_exception();
  }
  buffers.destroy();
  if (failure != nullptr) std::rethrow_exception(std::move(failure));
}

}  // namespace apgas::inline v0::parallel
