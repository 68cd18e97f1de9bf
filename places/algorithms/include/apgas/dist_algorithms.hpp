// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parallel algorithms of namespace apgas::parallel over a dist_array. Their names, parameters
// and results are those of the algorithms over ranges (parallel.hpp), with an array instead of a
// range. The workers of each place process the elements that the place has.
//
//   const apgas::dist_array<double> a(1'000'000, apgas::distribution::block(),
//                                     [](std::size_t i) { return std::sin(i); });
//   const double sum = apgas::parallel::reduce(a);
//   apgas::parallel::sort(a);
//   const double median = a.get(a.size() / 2);
//
// All algorithms have these rules in common.
//
// They are called by *one* task, at any place of the array's group, and return when all places have
// done their share. No other task may change the array meanwhile.
// Functions and initial values are sent to the places, so they must be sendable (at.hpp). They are
// called by several tasks at the same time and in any order.
// If an array is replicated, an algorithm that returns a value reads the copy at this place, and
// one that changes an array does so with each copy.
// Throws: multiple_exceptions with all exceptions that the functions threw at any place, after the
// work at all places has ended. illegal_operation if the arrays of one call have different
// distributions, if a handle is empty or stale, inside `atomic` or `when`, and outside a task.
// bad_place if the caller's place is not in the group of the array.
// Context: task at a place of the group. They may suspend and resume on another worker.
// Cost: besides the work at each place, a number of *rounds*. In a round the caller's place sends
// one message to each other place that has elements, and receives one from it.

#include <apgas/parallel/dist_histogram.hpp>
#include <apgas/parallel/dist_reduce.hpp>
#include <apgas/parallel/dist_scan.hpp>
#include <apgas/parallel/dist_search.hpp>
#include <apgas/parallel/dist_sort.hpp>
