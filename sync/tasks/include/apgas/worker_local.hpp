// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <apgas/base/api.hpp>
#include <apgas/base/cache_line.hpp>
#include <apgas/scheduler/scheduler.hpp>
#include <apgas/sync/task.hpp>

// One value for each worker. It takes the place of thread_local, which tasks must not use because
// they may move between threads.
namespace apgas::inline v0 {

namespace sync {

// Throws illegal_operation for a task of a place that did not make the worker_local.
APGAS_API [[noreturn]] void throw_other_workers();

}  // namespace sync

// Holds one T for each worker of this place, each on cache lines of its own. A task may use the
// value of its worker without synchronisation until its next suspension point, and every spawn is
// one. After that it may run on another worker, and another task may use the value.
//
//   apgas::worker_local<long> hits;  // zero at each worker
//   apgas::forall(0, 1000, [&](int i) { if (matches(i)) ++*hits; });
//   assert(hits.reduce(std::plus<>()) == 500);
//
//   apgas::worker_local<std::vector<int>> found;
//   apgas::forall(0, 1000, [&](int i) { if (matches(i)) found->push_back(i); });
//   std::size_t most = found.local().size();
//   for (const std::vector<int>& each : found) most = std::max(most, each.size());
//   assert(found.size() == static_cast<std::size_t>(apgas::num_workers()));
//
// Context: constructing it and reaching the value of a worker need a task of the place. begin(),
// end(), size() and reduce() may be called by any thread. Nothing suspends.
template <class T>
class worker_local {
 public:
  // Makes each value T{}, or a copy of `initial`. Throws: illegal_operation outside a task; what
  // constructing T throws. Cost: one allocation for each worker.
  worker_local()
    requires std::default_initializable<T>
      : worker_local([] { return T{}; }) {}
  explicit worker_local(const T& initial)
    requires std::copy_constructible<T>
      : worker_local([&initial] { return T(initial); }) {}
  // Makes each value from the result of a call make(). T need not be movable. Throws: as above.
  template <std::invocable Make>
    requires(std::same_as<std::invoke_result_t<Make&>, T> ||
             std::convertible_to<std::invoke_result_t<Make&>, T>)
  explicit worker_local(Make make) : home_(sync::task_fiber("worker_local").on->home) {
    const auto n = static_cast<std::size_t>(home_->num_workers());
    cells_.reserve(n);
    for (std::size_t i = 0; i < n; ++i) cells_.push_back(std::make_unique<cell>(make));
  }

  // Returns the value of the worker that the task runs on.
  // Throws: illegal_operation outside a task, and in a task of another place.
  // Cost: about 1 ns.
  T& local() {
    scheduler::fiber& self = sync::task_fiber("worker_local");
    if (self.on->home != home_) [[unlikely]] {
      sync::throw_other_workers();
    }
    return cells_[static_cast<std::size_t>(self.on->id)]->value;
  }
  // The same as local().
  T& operator*() { return local(); }
  T* operator->() { return std::addressof(local()); }

  // Returns iterators over the values of all workers, in an unspecified order. Requires: no task
  // uses a value meanwhile.
  auto begin() noexcept { return iterator<T>(cells_.data()); }
  auto end() noexcept { return iterator<T>(cells_.data() + cells_.size()); }
  auto begin() const noexcept { return iterator<const T>(cells_.data()); }
  auto end() const noexcept { return iterator<const T>(cells_.data() + cells_.size()); }
  // Returns the number of workers.
  std::size_t size() const noexcept { return cells_.size(); }

  // Combines all values and returns op(...op(op(a, b), c)...). The order is unspecified, so op
  // should be associative and commutative. Throws: what op throws. Requires: as for begin().
  // Cost: one call of op for each worker but the first.
  template <class Op>
    requires std::convertible_to<std::invoke_result_t<Op&, T, const T&>, T>
  T reduce(Op op) const {
    auto at = begin();
    T sum = *at;
    for (++at; at != end(); ++at) sum = std::invoke(op, std::move(sum), *at);
    return sum;
  }

 private:
  struct alignas(base::cache_line_bytes) cell {
    template <class Make>
    explicit cell(Make& make) : value(make()) {}
    T value;
  };

  template <class U>
  class iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;

    iterator() = default;
    explicit iterator(const std::unique_ptr<cell>* at) noexcept : at_(at) {}
    U& operator*() const noexcept { return (*at_)->value; }
    U* operator->() const noexcept { return std::addressof((*at_)->value); }
    iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    iterator operator++(int) noexcept { return iterator(at_++); }
    bool operator==(const iterator&) const = default;

   private:
    const std::unique_ptr<cell>* at_ = nullptr;
  };

  scheduler::scheduler* home_;
  std::vector<std::unique_ptr<cell>> cells_;
};

}  // namespace apgas::inline v0
