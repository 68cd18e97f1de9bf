// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <apgas/comm/handler.hpp>
#include <apgas/comm/sendable.hpp>
#include <apgas/finish.hpp>
#include <apgas/sync/offer_box.hpp>
#include <apgas/sync/place_state.hpp>

// A finish that collects and reduces values from its tasks (X10's collecting finish).
//
//   const long total = apgas::finish_reduce(0L, std::plus<>(), [] {
//     for (apgas::place each : apgas::places()) {
//       apgas::async_at(each, [] { apgas::offer(count()); });
//     }
//   });
namespace apgas::inline v0 {

namespace detail {

// Makes the box of another place. It is found by its type alone, so op must not capture anything.
template <class T, class Op>
sync::offer_box* make_offer_box(int workers) {
  struct nothing {};
  static_assert(
      std::is_empty_v<Op> && std::is_trivially_copyable_v<Op>,
      "apgas: the operation of a finish_reduce must capture nothing: it is made again at every "
      "place; put what it needs into the offered values");
  return new sync::reducing_offer_box<T, Op>(std::bit_cast<Op>(nothing{}), workers);
}

}  // namespace detail

// Runs body() as finish does, and returns op over `identity` and all values that tasks of the body
// offered, at any place. op must be associative and commutative, and it must be a function object
// without captures, because each place makes its own. The identity enters the result once.
//
// Requires: op does not throw. It is called in several tasks, at each place for the values offered
// there.
// Throws: multiple_exceptions and illegal_operation, as finish.
// Context: task. May suspend and resume on another worker.
// Cost: as finish, one call of op for each offer, and the reduced value of a place in its return
// message.
template <class T, class Op, std::invocable Body>
T finish_reduce(T identity, Op op, Body&& body,
                scheduler::call_site where = scheduler::call_site::current()) {
  static_assert(std::is_same_v<T, std::remove_cvref_t<T>>);
  static_assert(comm::require_sendable_value<T>());
  scheduler::fiber& self = sync::suspendable_fiber("finish_reduce");
  auto offers = std::make_unique<sync::reducing_offer_box<T, Op>>(
      op, sync::place_of(self).task_scheduler->num_workers());
  sync::finish_frame frame(self);
  try {
    frame.collect(comm::id_of<&detail::make_offer_box<T, Op>>(), std::move(offers));
    std::invoke(std::forward<Body>(body));
  } catch (...) {
    sync::task_failed(self);
  }
  auto box = frame.end_collecting(where);
  std::optional<T> offered = static_cast<sync::reducing_offer_box<T, Op>&>(*box).take();
  return offered.has_value() ? op(std::move(identity), *std::move(offered)) : std::move(identity);
}

// Offers x to the finish_reduce that is the innermost finish of the running task. x must have the
// type T of that finish_reduce.
//
// Throws: illegal_operation if the innermost finish is an ordinary one or collects another type,
// and outside a task; what copying x throws.
// Context: task; does not suspend.
// Cost: one call of op and two short locks, which no other worker takes before the finish ends.
template <class T>
void offer(T&& x) {
  using value = std::decay_t<T>;
  scheduler::fiber& self = sync::task_fiber("offer");
  auto& box = sync::box_for_offer(self, typeid(value));
  static_cast<sync::typed_offer_box<value>&>(box).add(self.on->id, std::forward<T>(x));
}

}  // namespace apgas::inline v0
