// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <apgas/base/cache_line.hpp>
#include <apgas/scheduler/scheduler.hpp>
#include <apgas/sync/task.hpp>

// A value per worker, in place of thread_local, which tasks must not use.
namespace apgas::inline v0 {

namespace sync {

[[noreturn]] void throw_other_workers();

}  // namespace sync

// One T for each worker of this place, each on cache lines of its own. A task uses the one of its
// worker without synchronisation, from the access to its next suspension point (a spawn is one):
// after that it may be on another worker, and another task may use the value.
//
// Context: a task of the place, also for making one; begin, end and reduce any thread.
template <class T>
class worker_local {
 public:
  // Each is T{}, or a copy of `initial`.
  worker_local()
    requires std::default_initializable<T>
      : worker_local([] { return T{}; }) {}
  explicit worker_local(const T& initial)
    requires std::copy_constructible<T>
      : worker_local([&initial] { return T(initial); }) {}
  // Each is what a call of make() returns; T may be immovable.
  template <std::invocable Make>
    requires(std::same_as<std::invoke_result_t<Make&>, T> ||
             std::convertible_to<std::invoke_result_t<Make&>, T>)
  explicit worker_local(Make make) : home_(sync::task_fiber("worker_local").on->home) {
    const auto n = static_cast<std::size_t>(home_->num_workers());
    cells_.reserve(n);
    for (std::size_t i = 0; i < n; ++i) cells_.push_back(std::make_unique<cell>(make));
  }

  // The value of this worker. Throws: illegal_operation outside the tasks of this place.
  // Cost: about 1 ns.
  T& local() {
    scheduler::fiber& self = sync::task_fiber("worker_local");
    if (self.on->home != home_) [[unlikely]] {
      sync::throw_other_workers();
    }
    return cells_[static_cast<std::size_t>(self.on->id)]->value;
  }
  T& operator*() { return local(); }
  T* operator->() { return std::addressof(local()); }

  // The values of all workers, in no order that means anything. Requires: no task is using its own.
  auto begin() noexcept { return iterator<T>(cells_.data()); }
  auto end() noexcept { return iterator<T>(cells_.data() + cells_.size()); }
  auto begin() const noexcept { return iterator<const T>(cells_.data()); }
  auto end() const noexcept { return iterator<const T>(cells_.data() + cells_.size()); }
  std::size_t size() const noexcept { return cells_.size(); }

  // op(...op(op(a, b), c)...) over all of them. Requires: as for begin().
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
