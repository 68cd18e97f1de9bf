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

// Prefix sums of distributed arrays: inclusive_scan and exclusive_scan. A portion consists of runs
// of consecutive indices (dist_shape.hpp, D2). In the first round each place reduces its runs, and
// the caller computes the sum of all elements before each run. In the second round each place scans
// its runs from these sums on. The first run of the array is scanned in the first round already,
// and its last run is not reduced.
namespace apgas::inline v0::remote {

// The runs of the portion at this place.
struct runs_here {
  template <class T>
  explicit runs_here(const dist_array<T>& a)
      : runs{a.local().size(), portion_of(a).shape.run_size(portion_of(a).mine)},
        has_first(portion_of(a).mine == 0),
        has_last((portion_of(a).shape.runs() - 1) % portion_of(a).shape.portions() ==
                 portion_of(a).mine) {}

  sync::division runs;
  bool has_first;  // the first run of the array
  bool has_last;   // its last run
};

// Scans one run of this place with all its workers.
template <sync::scan_kind Kind, class T, class O, class R, class Op>
void scan_run(const dist_array<T>& a, const dist_array<O>& out, std::size_t begin, std::size_t end,
              std::optional<R>& carry, Op& op) {
  const auto workers = sync::workers_for("parallel::inclusive_scan");
  sync::scan_from<Kind>(a.local().begin() + sync::offset<T*>(begin), end - begin,
                        out.local().begin() + sync::offset<T*>(begin), carry, op, workers,
                        call_site());
}

// The first round at a place: returns the sum of each of its runs, in order, except the last run of
// the array. Scans the first run of the array from `init` on.
template <sync::scan_kind Kind, class R, class T, class O, class Op>
std::vector<R> scan_first_round(const dist_array<T>& a, const dist_array<O>& out,
                                std::optional<R> init, Op& op) {
  const runs_here here(a);
  const std::span<T> mine = a.local();
  const auto at = [mine](std::size_t k) -> decltype(auto) { return mine[k]; };
  std::size_t first = 0;
  std::vector<R> sums;
  if (here.has_first) {
    first = here.runs.end(0);
    scan_run<Kind>(a, out, 0, first, init, op);
    sums.push_back(*std::move(init));
  }
  const std::size_t last = here.has_last ? here.runs.begin(here.runs.blocks() - 1) : mine.size();
  if (first >= last) return sums;
  const sync::division rest{last - first, here.runs.size};
  if (rest.blocks() == 1) {  // it may be long
    const auto of_run = [first, &at](std::size_t k) -> decltype(auto) { return at(first + k); };
    sums.push_back(reduce_values<R>(rest.n, of_run, op));
    return sums;
  }
  const auto fold = [&](std::size_t begin, std::size_t end) {
    return sync::fold<R>(first + begin, first + end, at, op);
  };
  for (auto& each : sync::block_values<R>(rest, call_site(), fold)) {
    sums.push_back(*std::move(each));
  }
  return sums;
}

// The second round at a place: scans each of its runs except the first of the array, from the sums
// of all elements before them on.
template <sync::scan_kind Kind, class R, class T, class O, class Op>
void scan_second_round(const dist_array<T>& a, const dist_array<O>& out,
                       const std::vector<R>& sums_before, Op& op) {
  const runs_here here(a);
  const std::size_t first = here.has_first ? here.runs.end(0) : 0;
  const sync::division rest{a.local().size() - first, here.runs.size};
  if (rest.blocks() == 1) {
    std::optional<R> carry(sums_before[0]);
    return scan_run<Kind>(a, out, first, first + rest.n, carry, op);
  }
  const std::span<T> from = a.local().subspan(first);
  const std::span<O> to = out.local().subspan(first);
  sync::for_blocks(rest, call_site(), [&](std::size_t k, std::size_t begin, std::size_t end) {
    std::optional<R> carry(sums_before[k]);
    sync::scan_block<Kind>(sync::nth(from.begin(), begin), end - begin,
                           sync::nth(to.begin(), begin), carry, op);
  });
}

// Returns for each portion the sums of all elements before each of its runs, except the first run
// of the array. `sums` has the sums of the runs of each portion.
template <class R, class Op>
std::vector<std::vector<R>> sums_before_runs(
    const std::vector<portion_result<std::vector<R>>>& sums, const dist_shape& shape, Op& op) {
  std::vector<std::vector<R>> before(shape.portions());
  std::optional<R> sum;
  for (std::size_t run = 0; run < shape.runs(); ++run) {
    const std::size_t p = run % shape.portions();  // as many portions have elements as have runs
    if (run != 0) before[p].push_back(*sum);
    if (run + 1 == shape.runs()) break;
    const R of_run = sums[p].value.get()[run / shape.portions()];
    sum.emplace(run == 0 ? of_run : op(*std::move(sum), of_run));
  }
  return before;
}

template <sync::scan_kind Kind, class R, class T, class O, class Op>
void scan_array(const char* algorithm, const dist_array<T>& a, const dist_array<O>& out,
                const std::optional<R>& init, Op& op, std::source_location site) {
  sync::suspendable_fiber(algorithm);
  check_same_distribution(algorithm, a, out);
  const array_portion<T>& here = portion_of(a);
  if (here.shape.replicated()) {
    return at_portions(
        a, site,
        [](const dist_array<T>& from, const dist_array<O>& to, std::optional<R> carry, Op& plus) {
          scan_run<Kind>(from, to, 0, from.local().size(), carry, plus);
        },
        out, init, op);
  }
  const auto sums = results_of_portions(
      a, site,
      [](const dist_array<T>& from, const dist_array<O>& to, std::optional<R> carry, Op& plus) {
        return scan_first_round<Kind, R>(from, to, std::move(carry), plus);
      },
      out, init, op);
  const auto before =
      sync::collecting(site, [&] { return sums_before_runs(sums, here.shape, op); });
  finish([&] {
    for (std::size_t p = 0; p < before.size(); ++p) {
      if (before[p].empty()) continue;
      async_at(
          {here.group[p], site},
          [](const dist_array<T>& from, const dist_array<O>& to, const std::vector<R>& sums_before,
             Op& plus) { scan_second_round<Kind, R>(from, to, sums_before, plus); },
          a, out, before[p], op);
    }
  });
}

}  // namespace apgas::inline v0::remote

namespace apgas::inline v0::parallel {

// Assigns to each element of `out` the result of `op` over all elements of `a` up to and including
// the one with the same index. With `init`, the results begin with it. `out` is `a` itself or
// another array with the same distribution. `op` must be associative but need not be commutative.
// An `op` that is only nearly associative, such as the addition of floating-point numbers, may give
// other roundings with another number of places or workers, but the same in every run.
//
//   apgas::parallel::inclusive_scan(a, a);
//
// Throws: as all algorithms over arrays (dist_algorithms.hpp); if op threw, the elements of `out`
// have old or new values.
// Context: as all of them.
// Cost: two rounds; each place sends and receives one value with a block distribution, and one for
// each of its blocks with a block-cyclic one. So cyclic() moves all elements through the caller's
// place. One round if the array is replicated. Each place reads its elements twice.
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
//   apgas::parallel::exclusive_scan(sizes, offsets, std::size_t{0});
template <class T, class O, class R, class Op = std::plus<>>
void exclusive_scan(const dist_array<T>& a, const dist_array<O>& out, R init, Op op = {},
                    std::source_location site = std::source_location::current()) {
  remote::scan_array<sync::scan_kind::exclusive, R>("parallel::exclusive_scan", a, out,
                                                    std::optional<R>(std::move(init)), op, site);
}

}  // namespace apgas::inline v0::parallel
