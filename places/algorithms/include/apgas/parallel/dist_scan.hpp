// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <source_location>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <apgas/parallel/dist_reduce.hpp>
#include <apgas/parallel/scan.hpp>
#include <apgas/places/portion_calls.hpp>

// Prefix sums of distributed arrays: inclusive_scan and exclusive_scan. The elements of a portion
// form one or more runs of consecutive indices: one with a block distribution, and one for each
// block with a block-cyclic one (dist_shape.hpp, D2). A scan has two rounds:
//
//   1  Each place returns the sum of each of its runs. From these the caller computes, for each run
//      of the array, the sum of all elements before it. The sum of the last run is not needed.
//   2  Each place scans each of its runs, beginning with the sum of the elements before it.
//
// If the array has only one run, there is no first round.
namespace apgas::inline v0::remote {

// Returns true if the portion at this place has the last run of the array.
template <class T>
bool has_last_run(const array_portion<T>& here) {
  return (here.shape.runs() - 1) % here.shape.portions() == here.mine;
}

// The first round at a place: returns the sum of each of its runs, in order, except the last run of
// the array.
template <class R, class T, class Op>
std::vector<R> sums_of_runs(const dist_array<T>& a, Op& op) {
  const array_portion<T>& here = portion_of(a);
  const std::span<T> mine = a.local();
  const auto at = [mine](std::size_t k) -> decltype(auto) { return mine[k]; };
  sync::division runs{mine.size(), here.shape.run_size(here.mine)};
  if (has_last_run(here)) runs.n = runs.begin(runs.blocks() - 1);
  std::vector<R> sums;
  if (runs.blocks() == 1) {  // it may be long
    sums.push_back(reduce_values<R>(runs.n, at, op));
    return sums;
  }
  const auto fold = [&](std::size_t begin, std::size_t end) {
    return sync::fold<R>(begin, end, at, op);
  };
  for (auto& each : sync::block_values<R>(runs, call_site(), fold)) {
    sums.push_back(*std::move(each));
  }
  return sums;
}

// The second round at a place: scans each of its runs, beginning with the sum of all elements of
// the array before it. The first run of the array begins with `init`. `sums` contains the sum
// before each other run of this portion, in their order.
template <sync::scan_kind Kind, class R, class T, class O, class Op>
void scan_runs(const dist_array<T>& a, const dist_array<O>& out, const std::optional<R>& init,
               const std::vector<R>& sums, Op& op) {
  const array_portion<T>& here = portion_of(a);
  const std::span<T> from = a.local();
  const std::span<O> to = out.local();
  const bool has_first = here.shape.replicated() || here.mine == 0;
  const auto sum_before = [&](std::size_t run) {
    if (has_first && run == 0) return init;
    return std::optional<R>(sums[has_first ? run - 1 : run]);
  };
  const sync::division runs{from.size(), here.shape.run_size(here.mine)};
  if (runs.blocks() == 1) {
    std::optional<R> carry = sum_before(0);
    return sync::scan_from<Kind>(from.begin(), runs.n, to.begin(), carry, op,
                                 sync::workers_for("parallel::inclusive_scan"), call_site());
  }
  sync::for_blocks(runs, call_site(), [&](std::size_t k, std::size_t begin, std::size_t end) {
    std::optional<R> carry = sum_before(k);
    sync::scan_block<Kind>(sync::nth(from.begin(), begin), end - begin,
                           sync::nth(to.begin(), begin), carry, op);
  });
}

// Returns for each portion what scan_runs needs: the sum of all elements before each of its runs,
// except for the first run of the array. `sums` has the results of the first round, and `sum` is
// the initial value.
template <class R, class Op>
std::vector<std::vector<R>> sums_before_runs(
    const std::vector<portion_result<std::vector<R>>>& sums, const dist_shape& shape,
    std::optional<R> sum, Op& op) {
  std::vector<std::vector<R>> before(shape.portions());
  for (std::size_t run = 0; run + 1 < shape.runs(); ++run) {
    // Portions without elements have no result. They are the last ones, so result p is that of
    // portion p.
    const R of_run = sums[run % shape.portions()].value.get()[run / shape.portions()];
    // op may return a reference to its argument, so the result is a value of its own.
    std::optional<R> next(sum.has_value() ? R(op(std::as_const(*sum), of_run)) : of_run);
    sum = std::move(next);
    before[(run + 1) % shape.portions()].push_back(*sum);
  }
  return before;
}

template <sync::scan_kind Kind, class R, class T, class O, class Op>
void scan_array(const char* algorithm, const dist_array<T>& a, const dist_array<O>& out,
                const std::optional<R>& init, Op& op, std::source_location site) {
  sync::suspendable_fiber(algorithm);
  check_same_distribution(algorithm, a, out);
  const array_portion<T>& here = portion_of(a);
  std::vector<std::vector<R>> before(here.shape.portions());
  if (here.shape.runs() > 1) {
    const auto sums = results_of_portions(
        a, site, [](const dist_array<T>& of, Op& plus) { return sums_of_runs<R>(of, plus); }, op);
    before = sync::collecting(site, [&] { return sums_before_runs(sums, here.shape, init, op); });
  }
  finish([&] {
    for (std::size_t p = 0; p < before.size(); ++p) {
      if (here.shape.size_of(p) == 0) continue;
      async_at(
          {here.group[p], site},
          [](const dist_array<T>& from, const dist_array<O>& to, const std::optional<R>& first,
             const std::vector<R>& sums,
             Op& plus) { scan_runs<Kind>(from, to, first, sums, plus); },
          a, out, init, before[p], op);
    }
  });
}

}  // namespace apgas::inline v0::remote

namespace apgas::inline v0::parallel {

// Assigns to each element of `out` the result of `op` over all elements of `a` up to and including
// the one with the same index. With `init`, each result begins with it. `out` is `a` itself or
// another array with the same distribution. `op` must be associative but need not be commutative.
// With an `op` that is only nearly associative, such as the addition of floating-point numbers, the
// results depend on the distribution and on the numbers of places and workers, but are the same in
// every run.
//
//   const apgas::dist_array<double> a = measurements();
//   apgas::parallel::inclusive_scan(a, a);
//
// Throws: as all algorithms over arrays (dist_algorithms.hpp); if op threw, the elements of `out`
// have old or new values.
// Context: as all of them.
// Cost: two rounds. In the first, each place sends back one value with a block distribution, and
// one value for each of its blocks with a block-cyclic one; in the second, it receives as many. So
// with cyclic() all values go through the caller's place. One round suffices if the array is
// replicated, or in blocks at one place. In the first round op is called once for each element, in
// the second once or, by several workers in one run, twice.
template <class T, class O, class Op = std::plus<>>
void inclusive_scan(const dist_array<T>& a, const dist_array<O>& out, Op op = {},
                    std::source_location site = std::source_location::current()) {
  remote::scan_array<sync::scan_kind::inclusive, T>("parallel::inclusive_scan", a, out,
                                                    std::optional<T>(), op, site);
}
template <class T, class O, class Op, class R>
  requires(!std::same_as<R, std::source_location>)
void inclusive_scan(const dist_array<T>& a, const dist_array<O>& out, Op op, R init,
                    std::source_location site = std::source_location::current()) {
  remote::scan_array<sync::scan_kind::inclusive, R>("parallel::inclusive_scan", a, out,
                                                    std::optional<R>(std::move(init)), op, site);
}

// Assigns to each element of `out` the result of `op` over `init` and all elements of `a` before
// the one with the same index. Everything else is as for inclusive_scan.
//
//   const apgas::dist_array<std::size_t> sizes(1000, apgas::distribution::block(),
//                                              [](std::size_t i) { return i % 7; });
//   const apgas::dist_array<std::size_t> offsets(1000, apgas::distribution::block());
//   apgas::parallel::exclusive_scan(sizes, offsets, std::size_t{0});
template <class T, class O, class R, class Op = std::plus<>>
void exclusive_scan(const dist_array<T>& a, const dist_array<O>& out, R init, Op op = {},
                    std::source_location site = std::source_location::current()) {
  remote::scan_array<sync::scan_kind::exclusive, R>("parallel::exclusive_scan", a, out,
                                                    std::optional<R>(std::move(init)), op, site);
}

}  // namespace apgas::inline v0::parallel
