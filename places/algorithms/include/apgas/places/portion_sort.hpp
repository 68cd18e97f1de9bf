// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <source_location>
#include <span>
#include <utility>
#include <vector>

#include <apgas/at_into.hpp>
#include <apgas/base/api.hpp>
#include <apgas/forall.hpp>
#include <apgas/parallel/sort.hpp>
#include <apgas/place_local.hpp>
#include <apgas/places/cut_search.hpp>
#include <apgas/places/merge_runs.hpp>
#include <apgas/places/portion_calls.hpp>
#include <apgas/uninitialized_vector.hpp>

// The steps of the sort of a dist_array. Each step ends at all places before the next begins:
//
//   1  each place sorts its portion
//   2  the caller finds the cuts between the elements of the places (cut_search.hpp)
//   3  each place reads the elements that belong to it from all places, into a buffer
//   4  each place merges them into its portion
//
// The places then have the elements in the order of the group, which is that of the indices if the
// array is in blocks. Otherwise there are two more steps:
//
//   5  each place reads the elements of its indices from all places, into the buffer
//   6  each place copies them to its portion
namespace apgas::inline v0::remote {

// Throws illegal_operation: the order that was given to parallel::sort is not a strict weak order.
APGAS_API [[noreturn]] void refuse_order();

// A buffer for as many elements as the portion has, at each place.
template <class T>
using sort_buffers = place_local<std::unique_ptr<T[]>>;

// The number of elements of all portions before each portion, and of all.
inline std::vector<std::size_t> first_ranks(const dist_shape& shape) {
  std::vector<std::size_t> ranks(shape.portions() + 1);
  for (std::size_t p = 0; p < shape.portions(); ++p) ranks[p + 1] = ranks[p] + shape.size_of(p);
  return ranks;
}

// The samples of some intervals of the portion at this place, one after the other.
template <class T>
std::vector<T> samples_here(const dist_array<T>& a, const std::vector<interval>& intervals) {
  const std::span<T> mine = a.local();
  std::vector<T> samples;
  for (const interval& each : intervals) {
    const std::size_t n = sample_count(each, most_samples(portion_of(a).shape.portions()));
    for (std::size_t k = 0; k < n; ++k) samples.push_back(mine[sample_position(each, k, n)]);
  }
  return samples;
}

// Step 2. Returns the position of each cut in each portion, beginning with the cut before all
// elements and ending with the one behind them. Cut p is before the elements of portion p.
template <class T, class Comp>
class cuts_between_places {
 public:
  cuts_between_places(const dist_array<T>& a, Comp& comp, std::source_location site)
      : a_(a), comp_(comp), site_(site), shape_(portion_of(a).shape) {
    std::vector<std::size_t> sizes(shape_.portions());
    for (std::size_t p = 0; p < sizes.size(); ++p) sizes[p] = shape_.size_of(p);
    for (const std::size_t rank : first_ranks(shape_)) searches_.emplace_back(rank, sizes);
    while (!all_found()) search();
    check_order();
  }

  // The elements of portion `from` that belong to portion `to`.
  interval moved(std::size_t from, std::size_t to) const {
    return {searches_[to].intervals()[from].low, searches_[to + 1].intervals()[from].low};
  }

 private:
  bool all_found() const {
    return std::ranges::all_of(searches_, [](const cut_search& s) { return s.found(); });
  }

  // One round of all searches.
  void search() {
    const array_portion<T>& here = portion_of(a_);
    std::vector<portion_result<std::vector<T>>> results;
    for (std::size_t p = 0; p < shape_.portions(); ++p) {
      std::vector<interval> asked;
      asked.reserve(searches_.size());
      for (const cut_search& s : searches_) asked.push_back(s.intervals()[p]);
      if (std::ranges::all_of(asked, [](const interval& i) { return i.size() == 0; })) continue;
      const auto there = [](const dist_array<T>& a, const std::vector<interval>& intervals) {
        return samples_here(a, intervals);
      };
      results.push_back({p, async_future_at({here.group[p], site_}, there, a_, asked)});
    }
    wait_for_all(results, site_);
    std::vector<std::size_t> read(results.size());  // how many samples of each result
    for (cut_search& s : searches_) {
      std::vector<sample<T>> samples;
      for (std::size_t r = 0; r < results.size(); ++r) {
        const interval& from = s.intervals()[results[r].portion];
        const std::vector<T>& values = results[r].value.get();
        const std::size_t n = sample_count(from, most_samples(shape_.portions()));
        for (std::size_t k = 0; k < n; ++k) {
          samples.push_back({values[read[r]++], results[r].portion, sample_position(from, k, n)});
        }
      }
      if (!s.found()) narrow(s, samples);
    }
  }

  // The samples of each portion are in order, and those of the first portion come first.
  void narrow(cut_search& s, std::vector<sample<T>>& samples) {
    sync::collecting(site_, [&] {
      std::ranges::stable_sort(samples, [this](const sample<T>& x, const sample<T>& y) {
        return static_cast<bool>(std::invoke(comp_, x.value, y.value));
      });
    });
    if (!s.narrow(samples)) refuse_order();
  }

  void check_order() const {
    for (std::size_t to = 0; to < shape_.portions(); ++to) {
      std::size_t sum = 0;
      for (std::size_t from = 0; from < shape_.portions(); ++from) {
        if (moved(from, to).low > moved(from, to).high) refuse_order();
        sum += moved(from, to).size();
      }
      if (sum != shape_.size_of(to)) refuse_order();
    }
  }

  const dist_array<T>& a_;
  Comp& comp_;
  std::source_location site_;
  dist_shape shape_;
  std::vector<cut_search> searches_;
};

// Step 3 at a place: reads the elements of each portion that belong to this place into the buffer,
// one run after the other. Returns when all have arrived.
template <class T>
void read_runs(const dist_array<T>& a, T* buffer, const std::vector<interval>& moved) {
  const place_group& group = a.group();
  std::vector<std::size_t> bounds{0};
  for (const interval& each : moved) bounds.push_back(bounds.back() + each.size());
  coforall(
      std::size_t{0}, moved.size(),
      [&](std::size_t p) {
        if (moved[p].size() == 0) return;
        at_into(
            {group[p], call_site()},
            std::as_writable_bytes(std::span<T>(buffer + bounds[p], moved[p].size())),
            [](const dist_array<T>& of, const interval& run) -> std::span<const std::byte> {
              return std::as_bytes(of.local().subspan(run.low, run.size()));
            },
            a, moved[p]);
      },
      call_site());
}

// The bytes of the elements of this portion that belong to portion `to`, when element k of this
// portion is element `first` + k of the sorted sequence.
template <class T>
uninitialized_vector<std::byte> elements_for(const dist_array<T>& a, std::size_t first,
                                             std::size_t to) {
  const dist_shape& shape = portion_of(a).shape;
  const std::span<T> mine = a.local();
  const std::size_t begin = shape.size_before(to, first);
  const std::size_t end = shape.size_before(to, first + mine.size());
  uninitialized_vector<std::byte> bytes((end - begin) * sizeof(T));
  for (std::size_t k = begin; k < end; ++k) {
    std::memcpy(&bytes[(k - begin) * sizeof(T)], &mine[shape.index_of(to, k) - first], sizeof(T));
  }
  return bytes;
}

// Step 5 at a place.
template <class T>
void read_by_index(const dist_array<T>& a, T* buffer) {
  const array_portion<T>& here = portion_of(a);
  const std::vector<std::size_t> first = first_ranks(here.shape);
  coforall(
      std::size_t{0}, here.shape.portions(),
      [&](std::size_t p) {
        const std::size_t begin = here.shape.size_before(here.mine, first[p]);
        const std::size_t end = here.shape.size_before(here.mine, first[p + 1]);
        if (begin == end) return;
        at_into(
            {here.group[p], call_site()},
            std::as_writable_bytes(std::span<T>(buffer + begin, end - begin)),
            [](const dist_array<T>& of, std::size_t rank, std::size_t to) {
              return elements_for(of, rank, to);
            },
            a, first[p], here.mine);
      },
      call_site());
}

// Steps 2 to 6. The portions are sorted.
template <class T, class Comp>
void sort_between_places(const dist_array<T>& a, const sort_buffers<T>& buffers, Comp& comp,
                         std::source_location site) {
  const array_portion<T>& here = portion_of(a);
  const std::size_t portions = here.shape.portions();
  const cuts_between_places<T, Comp> cuts(a, comp, site);
  std::vector<std::vector<interval>> moved(portions);  // to each portion, from each portion
  for (std::size_t to = 0; to < portions; ++to) {
    for (std::size_t from = 0; from < portions; ++from) moved[to].push_back(cuts.moved(from, to));
  }
  finish([&] {
    for (std::size_t p = 0; p < portions; ++p) {
      if (here.shape.size_of(p) == 0) continue;
      async_at(
          {here.group[p], site},
          [](const dist_array<T>& of, const sort_buffers<T>& buffer,
             const std::vector<interval>& runs) { read_runs(of, buffer->get(), runs); },
          a, buffers, moved[p]);
    }
  });
  finish([&] {
    for (std::size_t p = 0; p < portions; ++p) {
      if (here.shape.size_of(p) == 0) continue;
      std::vector<std::size_t> bounds{0};
      for (const interval& each : moved[p]) bounds.push_back(bounds.back() + each.size());
      async_at(
          {here.group[p], site},
          [](const dist_array<T>& of, const sort_buffers<T>& buffer,
             const std::vector<std::size_t>& runs, Comp& order) {
            auto less = [&order](const T& x, const T& y) {
              return static_cast<bool>(std::invoke(order, x, y));
            };
            merge_runs(runs, buffer->get(), of.local().data(), merge_into::result, less,
                       call_site());
          },
          a, buffers, bounds, comp);
    }
  });
  if (here.shape.in_blocks()) return;
  at_portions(
      a, site,
      [](const dist_array<T>& of, const sort_buffers<T>& buffer) {
        read_by_index(of, buffer->get());
      },
      buffers);
  at_portions(
      a, site,
      [](const dist_array<T>& of, const sort_buffers<T>& buffer) {
        std::copy_n(buffer->get(), of.local().size(), of.local().begin());
      },
      buffers);
}

}  // namespace apgas::inline v0::remote
