// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <source_location>

#include <apgas/parallel/sort.hpp>
#include <apgas/places/portion_sort.hpp>

// The sort of a distributed array; portion_sort.hpp has its steps.
namespace apgas::inline v0::parallel {

// Sorts the elements of the array in the order `comp`. Each place has as many elements as before.
// Equal elements may come in any order. A replicated array is sorted at each place by itself.
//
//   const apgas::dist_array<double> a = measurements();
//   apgas::parallel::sort(a);
//   const apgas::dist_array<person> people = all_people();
//   apgas::parallel::sort(people, [](const person& x, const person& y) { return x.age < y.age; });
//
// Requires: comp is a strict weak order, as for std::sort; so no floating-point element is NaN.
// Throws: as all algorithms over arrays (dist_algorithms.hpp). If comp threw, the array still has
// all its elements, in another order. The multiple_exceptions contains a std::bad_alloc if a
// place had no memory, and a serialization_error if more than 1 GiB had to be moved between two
// places that cannot read each other's memory. Also illegal_operation if the search for the cuts
// finds that comp is not a strict weak order.
// Context: as all of them.
// Cost: each place sorts its portion, and needs memory for as many elements again. There are four
// rounds and those of the search for the cuts: four for a million random elements at each of up to
// 16 places, and about one more for 30 times as many. With a block distribution each element is
// moved between places at most once: a place reads the elements that belong to it from every other
// place that has some, by one at_into. So two places that read from each other exchange a request
// and a reply in each direction. With a block-cyclic distribution each element is moved at
// most twice, and there are two rounds more. A replicated array, or one at a single place, needs
// one round in all.
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
