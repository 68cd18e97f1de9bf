// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parallel algorithms of namespace apgas::parallel. Where the standard library has an algorithm
// of the same name, parameters and results are those of std. Every algorithm takes two random
// access iterators, or one range with random access, and waits until its work is done. It divides
// its elements into blocks, over which it runs a forall, and a block is a serial loop. So functions
// may be called in any order, by several tasks at the same time, and must not wait for each other.
//
// All algorithms have these rules in common.
//
// Context: task; (S) in docs/constructs.md. They may suspend and resume on another worker.
// Throws: what the functions and the operations of elements throw is collected, as by forall, and
// thrown as one multiple_exceptions when all blocks have ended. illegal_operation outside a task
// and inside `atomic` or `when`, and where the arguments overlap or differ in size.
// Only the elements of the range and of the destination are changed, and none of them by two
// tasks at the same time. Nothing else may change them meanwhile.

#include <apgas/parallel/collect_reduce.hpp>
#include <apgas/parallel/filter.hpp>
#include <apgas/parallel/for_each.hpp>
#include <apgas/parallel/histogram.hpp>
#include <apgas/parallel/integer_sort.hpp>
#include <apgas/parallel/merge.hpp>
#include <apgas/parallel/partition.hpp>
#include <apgas/parallel/reduce.hpp>
#include <apgas/parallel/scan.hpp>
#include <apgas/parallel/search.hpp>
#include <apgas/parallel/sort.hpp>
