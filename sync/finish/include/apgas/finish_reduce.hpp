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

// A finish that collects values from its tasks (X10's collecting finish).
namespace apgas::inline v0 {

namespace detail {

// Another place makes its reducer from nothing but the type.
template <class T, class Op>
sync::offer_box* make_offer_box(int workers) {
  struct nothing {};
  static_assert(std::is_empty_v<Op> && std::is_trivially_copyable_v<Op>,
                "the operation of a finish_reduce must capture nothing: it is made again at every "
                "place; put what it needs into the offered values");
  return new sync::reducing_offer_box<T, Op>(std::bit_cast<Op>(nothing{}), workers);
}

}  // namespace detail

// Runs body() as finish does and returns op over identity and everything offered in it, by tasks at
// all places. op must be associative and commutative, and capture nothing.
//
// Throws, Context: as finish.
template <class T, class Op, std::invocable Body>
T finish_reduce(T identity, Op op, Body&& body) {
  static_assert(std::is_same_v<T, std::remove_cvref_t<T>>);
  static_assert(comm::require_sendable_value<T>());
  scheduler::fiber& self = sync::suspendable_fiber("finish_reduce");
  sync::finish_frame frame(self);
  frame.collect(comm::id_of<&detail::make_offer_box<T, Op>>(),
                std::make_unique<sync::reducing_offer_box<T, Op>>(
                    op, sync::place_of(self).tasks->num_workers()));
  try {
    std::invoke(std::forward<Body>(body));
  } catch (...) {
    sync::task_failed(self);
  }
  auto box = frame.end_collecting();
  std::optional<T> offered = static_cast<sync::reducing_offer_box<T, Op>&>(*box).take();
  return offered.has_value() ? op(std::move(identity), *std::move(offered)) : std::move(identity);
}

// Gives x to the innermost finish_reduce of the running task. Throws: illegal_operation when the
// innermost finish is an ordinary one, or collects values of another type. Context: task.
template <class T>
void offer(T&& x) {
  using value = std::decay_t<T>;
  scheduler::fiber& self = sync::task_fiber("offer");
  auto& box = sync::box_for_offer(self, typeid(value));
  static_cast<sync::typed_offer_box<value>&>(box).add(self.on->id, std::forward<T>(x));
}

}  // namespace apgas::inline v0
