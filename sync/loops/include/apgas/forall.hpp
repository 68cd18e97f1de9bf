// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <ranges>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

#include <apgas/errors.hpp>
#include <apgas/sync/branch.hpp>

// Parallel loops: forall (iterations may share a task), coforall (each is one), parallel_reduce.
// They split their range in halves, so that a thief takes much at once, and only while thieves have
// taken what was there before (lazy binary splitting, Tzannes et al., PPoPP'10).
namespace apgas::inline v0 {

namespace detail {

template <class I>
concept loop_index = std::integral<I> || std::random_access_iterator<I>;

// The end of a loop in the type of its begin: forall(0, v.size(), ...) counts in int, as long as it
// can.
template <class I, class J>
I end_as(J last) {
  if constexpr (std::integral<I>) {
    static_assert(std::integral<J>, "the end of a loop over indices is an index");
    if (!std::in_range<I>(last)) {
      throw illegal_operation(
          "the end of a loop does not fit the type of its begin; begin with std::size_t{0} or 0L");
    }
    return static_cast<I>(last);
  } else {
    return last;
  }
}

// How many there are in [first, last), which may be more than the type of an index can count.
template <class I>
std::uint64_t length(I first, I last) {
  if constexpr (std::integral<I>) {
    return static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
  } else {
    return static_cast<std::uint64_t>(last - first);
  }
}

template <class I>
I advanced(I first, std::uint64_t n) {
  if constexpr (std::integral<I>) {
    return static_cast<I>(static_cast<std::uint64_t>(first) + n);
  } else {
    return first + static_cast<std::iter_difference_t<I>>(n);
  }
}

template <class I>
I middle_of(I first, I last) {
  return advanced(first, length(first, last) / 2);
}

// What the halves of a loop share; on the stack of the loop.
template <class Body>
struct loop {
  Body& body;
  std::uint64_t grain;
  std::source_location site;
  base::spin_lock lock;
  sync::branch_failures* failures = nullptr;  // of the first iteration that threw, lock held

  explicit loop(Body& b, std::uint64_t g, std::source_location s) : body(b), grain(g), site(s) {}
  loop(const loop&) = delete;
  loop& operator=(const loop&) = delete;
  ~loop() { delete failures; }

  void failed() {
    std::lock_guard guard(lock);
    if (failures == nullptr) failures = new sync::branch_failures(site);
    failures->add();
  }
  void end() {
    if (failures != nullptr) failures->raise();
  }
};

// Runs body(i) for [first, last), every one even if some throw.
template <class I, class Body>
void run_iterations(I first, I last, loop<Body>& shared) {
  while (first < last) {
    try {
      for (; first < last; ++first) shared.body(first);
    } catch (...) {
      shared.failed();
      ++first;
    }
  }
}

// The elements of a range by number: a list of iterators where the range has no other way.
template <class Range>
class all_positions {
 public:
  explicit all_positions(Range& range) {
    if constexpr (std::ranges::random_access_range<Range>) {
      first_ = std::ranges::begin(range);
      size_ = static_cast<std::size_t>(std::ranges::distance(range));
    } else {
      for (auto i = std::ranges::begin(range); i != std::ranges::end(range); ++i) {
        first_.push_back(i);
      }
      size_ = first_.size();
    }
  }
  std::size_t size() const noexcept { return size_; }
  std::ranges::iterator_t<Range> operator[](std::size_t i) const {
    if constexpr (std::ranges::random_access_range<Range>) {
      return first_ + static_cast<std::ranges::range_difference_t<Range>>(i);
    } else {
      return first_[i];
    }
  }

 private:
  using iterator = std::ranges::iterator_t<Range>;
  std::conditional_t<std::ranges::random_access_range<Range>, iterator, std::vector<iterator>>
      first_;
  std::size_t size_ = 0;
};

template <class Range>
all_positions<Range> positions(Range& range) {
  return all_positions<Range>(range);
}

inline bool thieves_wait(scheduler::fiber& self) { return self.on->tasks.empty(); }

// Enough pieces for balance, few enough that a piece is worth its check.
inline std::uint64_t default_grain(std::uint64_t n, int workers) {
  return std::clamp<std::uint64_t>(n / (64 * static_cast<std::uint64_t>(workers)), 1, 4096);
}

template <class I, class Body>
void run_adaptive(I first, I last, loop<Body>& shared) {
  while (length(first, last) > shared.grain) {
    if (thieves_wait(*scheduler::current_fiber())) {
      const I middle = middle_of(first, last);
      static_cast<void>(sync::fork_two(
          [middle, last, &shared] { run_adaptive(middle, last, shared); },
          [first, middle, &shared] { run_adaptive(first, middle, shared); }, shared.site));
      return;
    }
    const I end = advanced(first, shared.grain);
    run_iterations(first, end, shared);
    first = end;
  }
  run_iterations(first, last, shared);
}

template <class I, class Body>
void run_each(I first, I last, loop<Body>& shared) {
  if (length(first, last) <= 1) {
    run_iterations(first, last, shared);
    return;
  }
  const I middle = middle_of(first, last);
  static_cast<void>(sync::fork_two([middle, last, &shared] { run_each(middle, last, shared); },
                                   [first, middle, &shared] { run_each(first, middle, shared); },
                                   shared.site));
}

int workers_here(const scheduler::fiber& self) noexcept;

}  // namespace detail

// Runs body(i) for every i of [first, last): indices, or random access iterators. Iterations may
// run in any order and share a task, so they must not wait for each other. `grain`: how many a task
// runs between two looks for thieves; 0 chooses.
//
// Throws: multiple_exceptions when iterations threw, after all others ran.
// Context: task; not inside an atomic section. May suspend and resume elsewhere.
template <detail::loop_index I, detail::loop_index J, std::invocable<I> Body>
void forall(I first, J end, Body body, std::ptrdiff_t grain = 0,
            std::source_location site = std::source_location::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("forall");
  const I last = detail::end_as<I>(end);
  if (!(first < last)) return;
  const std::uint64_t piece =
      grain > 0 ? static_cast<std::uint64_t>(grain)
                : detail::default_grain(detail::length(first, last), detail::workers_here(self));
  detail::loop shared(body, piece, site);
  detail::run_adaptive(first, last, shared);
  shared.end();
}

// Runs body(x) for every element of a range; elements of lvalues by reference.
template <std::ranges::forward_range Range, class Body>
  requires std::invocable<Body&, std::ranges::range_reference_t<Range>>
void forall(Range&& range, Body body, std::ptrdiff_t grain = 0,
            std::source_location site = std::source_location::current()) {
  const auto at = detail::positions(range);
  auto element = [&](std::size_t i) { body(*at[i]); };
  forall(std::size_t{0}, at.size(), element, grain, site);
}

// Runs body(i) for every i of [first, last), each as a task of its own, with its own copy of i:
// they may wait for each other. Throws, Context: as forall.
template <detail::loop_index I, detail::loop_index J, std::invocable<I> Body>
void coforall(I first, J end, Body body,
              std::source_location site = std::source_location::current()) {
  sync::suspendable_fiber("coforall");
  const I last = detail::end_as<I>(end);
  auto one = [&](I i) { body(i); };
  detail::loop shared(one, 1, site);
  if (first < last) detail::run_each(first, last, shared);
  shared.end();
}

template <std::ranges::forward_range Range, class Body>
  requires std::invocable<Body&, std::ranges::range_reference_t<Range>>
void coforall(Range&& range, Body body,
              std::source_location site = std::source_location::current()) {
  const auto at = detail::positions(range);
  auto element = [&](std::size_t i) { body(*at[i]); };
  coforall(std::size_t{0}, at.size(), element, site);
}

namespace detail {

template <class I, class T, class Map, class Op>
T reduce_adaptive(I first, I last, const T& identity, Map& map, Op& op, std::uint64_t grain,
                  std::source_location site) {
  T sum = identity;
  while (length(first, last) > grain) {
    if (thieves_wait(*scheduler::current_fiber())) {
      const I middle = middle_of(first, last);
      auto half = [&identity, &map, &op, grain, site](I a, I b) {
        return reduce_adaptive(a, b, identity, map, op, grain, site);
      };
      auto [right, left] =
          sync::fork_two([&half, middle, last] { return half(middle, last); },
                         [&half, first, middle] { return half(first, middle); }, site);
      return op(op(std::move(sum), std::move(left)), std::move(right));
    }
    for (std::uint64_t i = 0; i < grain; ++i, ++first) sum = op(std::move(sum), map(first));
  }
  for (; first < last; ++first) sum = op(std::move(sum), map(first));
  return sum;
}

}  // namespace detail

// op over identity and map(i) for every i of [first, last), in order: op need be associative only.
// Throws: multiple_exceptions when map or op threw. Context: as forall.
template <detail::loop_index I, detail::loop_index J, class T, std::invocable<I> Map, class Op>
T parallel_reduce(I first, J end, T identity, Map map, Op op,
                  std::source_location site = std::source_location::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("parallel_reduce");
  const I last = detail::end_as<I>(end);
  if (!(first < last)) return identity;
  const std::uint64_t grain =
      detail::default_grain(detail::length(first, last), detail::workers_here(self));
  try {
    return detail::reduce_adaptive(first, last, identity, map, op, grain, site);
  } catch (...) {
    sync::branch_failures failures(site);
    failures.add();
    failures.raise();
  }
}

}  // namespace apgas::inline v0
