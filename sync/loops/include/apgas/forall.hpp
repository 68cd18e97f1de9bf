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

#include <apgas/base/api.hpp>
#include <apgas/sync/branch.hpp>
#include <apgas/sync/loop_range.hpp>

// Parallel loops: forall, whose iterations may share a task; coforall, which has a task for each
// iteration; and parallel_reduce. A loop splits its range in halves, so that a thief takes much
// work at once. It splits only while the worker's deque is empty, that is, after thieves have taken
// what was there (lazy binary splitting, Tzannes et al., PPoPP 2010).
namespace apgas::inline v0 {

namespace detail {

// What the tasks of a loop share, on the stack of the loop's caller. With w workers, worker k
// prefers the k-th of w equal shares of the range. So in a sequence of loops over the same elements
// each worker finds most of its elements in its own cache, wherever the caller has resumed.
template <class I, class Body>
struct loop {
  Body& body;
  I begin;
  std::uint64_t n;
  std::uint64_t workers;
  std::uint64_t grain;
  std::source_location site;
  base::spin_lock lock;
  sync::branch_failures* failures = nullptr;  // made by the first failure; guarded by lock

  loop(Body& b, I first, I last, int all, std::uint64_t g, std::source_location s)
      : body(b),
        begin(first),
        n(length(first, last)),
        workers(static_cast<std::uint64_t>(all)),
        grain(g),
        site(s) {}
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

  // Returns whether the worker prefers [middle, last) to [first, middle): together they exceed a
  // share, and the middle of its own share is in the second. Arbitrary if the products overflow.
  bool prefers_second(int worker, I first, I middle, I last) const {
    if (length(first, last) * workers <= n) return false;
    const std::uint64_t twice_middle = (2 * static_cast<std::uint64_t>(worker) + 1) * n;
    return twice_middle > 2 * workers * length(begin, middle);
  }
};

// Runs Run()(a, b, shared) for both halves [a, b) of the range in parallel. The worker goes on with
// the half that it prefers, and thieves take the other; if `Grants`, without asking for it.
template <class Run, bool Grants, class I, class Body>
void split(const scheduler::fiber& self, I first, I last, loop<I, Body>& shared) {
  const I middle = middle_of(first, last);
  const bool second = shared.prefers_second(self.on->id, first, middle, last);
  const I kept = second ? middle : first;
  const I kept_end = second ? last : middle;
  const I other = second ? first : middle;
  const I other_end = second ? middle : last;
  static_cast<void>(sync::fork_two([other, other_end, &shared] { Run()(other, other_end, shared); },
                                   [kept, kept_end, &shared, &self] {
                                     if (Grants && shared.workers > 1) self.on->tasks.grant();
                                     Run()(kept, kept_end, shared);
                                   },
                                   shared.site));
}

// Runs body(i) for every i of [first, last), also if some of them throw.
template <class I, class Body>
void run_iterations(I first, I last, loop<I, Body>& shared) {
  while (first < last) {
    try {
      for (Body& body = shared.body; first < last; ++first) body(first);
    } catch (...) {
      shared.failed();
      ++first;
    }
  }
}

// Gives the elements of a range numbers. If the range has no random access, it keeps a list of
// iterators.
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

// Returns whether the worker has nothing left that a thief could take. Answers a thief that has
// asked, since the worker pushes and pops nothing between two chunks.
inline bool thieves_wait(scheduler::fiber& self) {
  self.on->tasks.answer();
  return self.on->tasks.empty();
}

// Returns `asked`, or for 0 a grain for chunks that balance the load and are worth the check after.
inline std::uint64_t grain_of(std::ptrdiff_t asked, std::uint64_t n, int workers) {
  if (asked > 0) return static_cast<std::uint64_t>(asked);
  return std::clamp<std::uint64_t>(n / (64 * static_cast<std::uint64_t>(workers)), 1, 4096);
}

// Runs a forall over [first, last): splits the range whenever the deque is empty, and otherwise
// runs `grain` iterations and checks again.
struct run_adaptive {
  template <class I, class Body>
  void operator()(I first, I last, loop<I, Body>& shared) const {
    while (length(first, last) > shared.grain) {
      scheduler::fiber& self = *scheduler::current_fiber();
      if (thieves_wait(self)) return split<run_adaptive, true>(self, first, last, shared);
      const I end = advanced(first, shared.grain);
      run_iterations(first, end, shared);
      first = end;
    }
    run_iterations(first, last, shared);
  }
};

// Runs a coforall over [first, last): splits the range down to single iterations.
struct run_each {
  template <class I, class Body>
  void operator()(I first, I last, loop<I, Body>& shared) const {
    if (length(first, last) <= 1) return run_iterations(first, last, shared);
    split<run_each, false>(*scheduler::current_fiber(), first, last, shared);
  }
};

// Returns the number of workers of the place.
APGAS_API int workers_here(const scheduler::fiber& self) noexcept;

}  // namespace detail

// Runs body(i) for every i of [first, last), which are indices or random access iterators, and
// waits for all of them. Iterations may run in any order and may share a task, so they must not
// wait for each other; use coforall for that. `grain` is the number of iterations that a task runs
// before it checks whether to split again; 0 chooses one from the length and the number of workers.
// forall is not a finish: a task that an iteration spawns by async belongs to the enclosing finish
// and may outlive the loop. Chapel's forall.
//
//   apgas::forall(0, 100, [&](int i) { y[i] += 2 * x[i]; });
//
// Throws: multiple_exceptions if iterations threw, after all others have run; illegal_operation
// outside a task, inside `atomic` or `when`, and if `end` does not fit the type of `first`.
// Context: task. May suspend and resume on another worker.
// Cost: while no other worker is idle, about that of a serial loop; each split is a fork_join.
template <detail::loop_index I, detail::loop_index J, std::invocable<I> Body>
void forall(I first, J end, Body body, std::ptrdiff_t grain = 0,
            std::source_location site = std::source_location::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("forall");
  const I last = detail::end_as<I>(end);
  if (!(first < last)) return;
  const int workers = detail::workers_here(self);
  const std::uint64_t chunk = detail::grain_of(grain, detail::length(first, last), workers);
  detail::loop shared(body, first, last, workers, chunk, site);
  const sync::own_locals of_loop(self, true);
  detail::run_adaptive()(first, last, shared);
  shared.end();
}

// Runs body(x) for every element x of a range, by reference if the range is an lvalue. The range
// must not change meanwhile. Throws, Context, Cost: as above, and for a range without random access
// one list of iterators.
template <std::ranges::forward_range Range, class Body>
  requires std::invocable<Body&, std::ranges::range_reference_t<Range>>
void forall(Range&& range, Body body, std::ptrdiff_t grain = 0,
            std::source_location site = std::source_location::current()) {
  const auto at = detail::positions(range);
  forall(std::size_t{0}, at.size(), [&](std::size_t i) { body(*at[i]); }, grain, site);
}

// Runs body(i) for every i of [first, last), each in a task of its own, and waits for all of them.
// Each task has its own copy of i, and the tasks may wait for each other. Chapel's coforall.
//
//   apgas::latch ready(4);
//   apgas::coforall(0, 4, [&](int i) { prepare(i), ready.arrive_and_wait(), work(i); });
//
// Throws, Context: as forall. Cost: a fork_join for each iteration.
template <detail::loop_index I, detail::loop_index J, std::invocable<I> Body>
void coforall(I first, J end, Body body,
              std::source_location site = std::source_location::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("coforall");
  const I last = detail::end_as<I>(end);
  const sync::own_locals of_loop(self, true);
  auto one = [&](I i) { body(i); };
  if (!(first < last)) return;
  detail::loop shared(one, first, last, detail::workers_here(self), 1, site);
  detail::run_each()(first, last, shared);
  shared.end();
}

// Runs body(x) for every element x of a range, each in a task of its own, by reference if the range
// is an lvalue. Throws, Context, Cost: as above.
template <std::ranges::forward_range Range, class Body>
  requires std::invocable<Body&, std::ranges::range_reference_t<Range>>
void coforall(Range&& range, Body body,
              std::source_location site = std::source_location::current()) {
  const auto at = detail::positions(range);
  coforall(std::size_t{0}, at.size(), [&](std::size_t i) { body(*at[i]); }, site);
}

namespace detail {

// Returns op over `sum` and map(i) for n indices i from `first` on. Inlined into the code that
// splits a range, the sum would be in memory, and each iteration would wait for the last store.
template <class I, class T, class Map, class Op>
[[gnu::noinline]] T reduce_iterations(I first, std::uint64_t n, T sum, Map& map, Op& op) {
  for (; n > 0; --n, ++first) sum = op(std::move(sum), map(first));
  return sum;
}

// Reduces [first, last) in the order of the indices, splitting it whenever the deque is empty.
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
    sum = reduce_iterations(first, grain, std::move(sum), map, op);
    first = advanced(first, grain);
  }
  return reduce_iterations(first, length(first, last), std::move(sum), map, op);
}

}  // namespace detail

// Maps every i of [first, last) and combines the results: returns op over `identity` and all
// map(i), in the order of i. So op must be associative but need not be commutative, and `identity`
// must be its neutral element, because each task starts from a copy of it. `grain` is that of
// forall; a small one balances the load if a few iterations take much longer than the others.
//
//   const double norm2 = apgas::parallel_reduce(
//       0, 100, 0.0, [&](int i) { return x[i] * x[i]; }, std::plus<>());
//
// Throws: multiple_exceptions if map or op threw; illegal_operation as forall.
// Context: task. May suspend and resume on another worker. Cost: as forall.
template <detail::loop_index I, detail::loop_index J, class T, std::invocable<I> Map, class Op>
T parallel_reduce(I first, J end, T identity, Map map, Op op, std::ptrdiff_t grain = 0,
                  std::source_location site = std::source_location::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("parallel_reduce");
  const I last = detail::end_as<I>(end);
  if (!(first < last)) return identity;
  const std::uint64_t chunk =
      detail::grain_of(grain, detail::length(first, last), detail::workers_here(self));
  const sync::own_locals of_loop(self, true);
  try {
    return detail::reduce_adaptive(first, last, identity, map, op, chunk, site);
  } catch (...) {
    sync::branch_failures failures(site);
    failures.add();
    failures.raise();
  }
}

// Other loops do not compile, and one sentence of the compiler says why.

namespace detail {

template <class Range, class Body>
consteval void require_loop() {
  if constexpr (!std::ranges::forward_range<Range>) {
    static_assert(std::ranges::forward_range<Range>,
                  "apgas: a loop needs a range that can be read again, or the first and the end of "
                  "its indices or iterators: forall(0, n, [](int i) { ... })");
  } else {
    static_assert(std::invocable<Body&, std::ranges::range_reference_t<Range>>,
                  "apgas: the body of a loop must be callable with one element of the range: "
                  "forall(range, [](T& x) { ... })");
  }
}

template <class I, class Body>
consteval void require_loop_of_indices() {
  static_assert(std::invocable<Body&, I>,
                "apgas: the body of a loop must be callable with one index or iterator: "
                "forall(0, n, [](int i) { ... })");
}

template <class Range, class Body>
concept no_loop = !std::ranges::forward_range<Range> ||
                  !std::invocable<Body&, std::ranges::range_reference_t<Range>>;

}  // namespace detail

// They do not compile. A const Range&, so that overloads for distributed arrays are preferred.
template <class Range, class Body>
  requires detail::no_loop<Range&, Body>
auto forall(const Range&, Body, std::ptrdiff_t = 0) {
  detail::require_loop<Range&, Body>();
}
template <detail::loop_index I, detail::loop_index J, class Body>
  requires(!std::invocable<Body, I>)
auto forall(I, J, Body, std::ptrdiff_t = 0) {
  detail::require_loop_of_indices<I, Body>();
}
template <class Range, class Body>
  requires detail::no_loop<Range&, Body>
auto coforall(const Range&, Body) {
  detail::require_loop<Range&, Body>();
}
template <detail::loop_index I, detail::loop_index J, class Body>
  requires(!std::invocable<Body, I>)
auto coforall(I, J, Body) {
  detail::require_loop_of_indices<I, Body>();
}

}  // namespace apgas::inline v0
