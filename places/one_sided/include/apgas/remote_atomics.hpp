// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <source_location>
#include <type_traits>

#include <apgas/global_ptr.hpp>
#include <apgas/places/memory_atomics.hpp>
#include <apgas/places/message_access.hpp>

// Atomic operations on an element that a global_ptr points to, from any place (as UPC++'s
// atomic_domain). They are sequentially consistent with each other and with std::atomic_ref at the
// element's home. rput, rget and copy are not atomic with respect to them. A processor of a host
// that has the memory always executes them, never a network card.
//
// Elements are of an integer type other than bool, of at most 8 bytes, or of type float or double.
// The bit operations need an integer type. Load, store and exchange are called atomic_..., since
// std::exchange would otherwise be found as well.
//
//   const auto counter = apgas::allocate<long>(p, 1);
//   const long mine = apgas::fetch_add(counter, 1);      // 0 for the first task that calls it
//   apgas::fetch_sub(counter, 1);
//   apgas::atomic_store(counter, 12);
//   apgas::fetch_and(counter, 6);                        // 4
//   apgas::fetch_or(counter, 3);                         // 7
//   apgas::fetch_xor(counter, 1);                        // 6
//   long expected = 6;
//   assert(apgas::compare_exchange(counter, expected, 8));
//   assert(apgas::atomic_exchange(counter, 9) == 8);
//   apgas::finish([counter] {
//     apgas::async_add(counter, 1);                      // 10
//     apgas::async_xor(counter, 0);
//   });
//   assert(apgas::atomic_load(counter) == 10);
//
// Throws of all: illegal_operation if the pointer is null or stale, if the element is outside of
// the allocation, inside `atomic` or `when`, and outside a task. For async_add and async_xor, an
// error that the home detects is reported to the finish instead.
// Context of all: task, not inside `atomic` or `when`; may suspend and resume on another worker.
// Cost: if the memory is directly accessible (one_sided.hpp), about 5 ns and the atomic
// instruction. Otherwise a message each way, which the other place serves without a task.
namespace apgas::inline v0 {

// The types that have remote atomic operations.
template <class T>
concept remote_atomic_value = (std::integral<T> && !std::same_as<T, bool> && sizeof(T) <= 8) ||
                              std::same_as<T, float> || std::same_as<T, double>;

namespace remote {

template <class T>
memory_access atomic_access(const char* name, const allocation_range& range,
                            atomic_operation operation, T operand, T second) {
  return {.name = name,
          .operation = memory_operation::atomic,
          .range = range,
          .atomic = {.operation = operation,
                     .word = word_of<T>(),
                     .operand = to_word(operand),
                     .second = to_word(second)}};
}

template <class T>
[[gnu::always_inline]] inline T do_atomic(const char* name, const global_ptr<T>& p,
                                          atomic_operation operation, T operand, T second = {}) {
  static_assert(remote_atomic_value<T>,
                "apgas: remote atomics are for integers, float and double; put what belongs "
                "together into one integer, or go there with at and use apgas::atomic");
  scheduler::fiber& self = sync::suspendable_fiber(name);
  const allocation_range range = range_of(p, 1);
  if (std::byte* const there = direct_address(self, name, range)) {
    return apply_atomic(operation, reinterpret_cast<T*>(there), operand, second);
  }
  return from_word<T>(
      awaited_access(self, atomic_access(name, range, operation, operand, second)).run());
}

template <class T>
void start_atomic(const char* name, const global_ptr<T>& p, atomic_operation operation, T operand,
                  std::source_location site) {
  static_assert(remote_atomic_value<T>, "apgas: remote atomics are for integers, float and double");
  scheduler::fiber& self = sync::suspendable_fiber(name);
  const allocation_range range = range_of(p, 1);
  if (std::byte* const there = direct_address(self, name, range)) {
    apply_atomic(operation, reinterpret_cast<T*>(there), operand, T{});
  } else {
    counted_access::start(self, atomic_access(name, range, operation, operand, T{}), site);
  }
}

}  // namespace remote

// Returns the value of the element at `p`.
template <class T>
T atomic_load(global_ptr<T> p) {
  return remote::do_atomic("atomic_load", p, remote::atomic_operation::load, T{});
}

// Replaces the value of the element at `p`.
template <class T>
void atomic_store(global_ptr<T> p, std::type_identity_t<T> value) {
  remote::do_atomic("atomic_store", p, remote::atomic_operation::store, value);
}

// These replace the value of the element at `p` by `value`, or combine the two, and return the
// previous value. Integers wrap around.
template <class T>
T atomic_exchange(global_ptr<T> p, std::type_identity_t<T> value) {
  return remote::do_atomic("atomic_exchange", p, remote::atomic_operation::exchange, value);
}
template <class T>
T fetch_add(global_ptr<T> p, std::type_identity_t<T> value) {
  return remote::do_atomic("fetch_add", p, remote::atomic_operation::add, value);
}
template <class T>
T fetch_sub(global_ptr<T> p, std::type_identity_t<T> value) {
  return remote::do_atomic("fetch_sub", p, remote::atomic_operation::add, remote::negated(value));
}
template <std::integral T>
T fetch_and(global_ptr<T> p, std::type_identity_t<T> value) {
  return remote::do_atomic("fetch_and", p, remote::atomic_operation::bit_and, value);
}
template <std::integral T>
T fetch_or(global_ptr<T> p, std::type_identity_t<T> value) {
  return remote::do_atomic("fetch_or", p, remote::atomic_operation::bit_or, value);
}
template <std::integral T>
T fetch_xor(global_ptr<T> p, std::type_identity_t<T> value) {
  return remote::do_atomic("fetch_xor", p, remote::atomic_operation::bit_xor, value);
}

// If the element at `p` has the same bytes as `expected`, replaces it by `desired` and returns
// true. Otherwise copies the value into `expected` and returns false.
template <class T>
bool compare_exchange(global_ptr<T> p, std::type_identity_t<T>& expected,
                      std::type_identity_t<T> desired) {
  const T found = remote::do_atomic("compare_exchange", p,
                                    remote::atomic_operation::compare_exchange, expected, desired);
  const bool stored = remote::to_word(found) == remote::to_word(expected);
  expected = found;
  return stored;
}

// These combine the element at `p` with `value`. They return at once and give no result; the
// innermost finish waits for them. `site` is where the program made the call, for error messages.
template <class T>
void async_add(global_ptr<T> p, std::type_identity_t<T> value,
               std::source_location site = std::source_location::current()) {
  remote::start_atomic("async_add", p, remote::atomic_operation::add, value, site);
}
template <std::integral T>
void async_xor(global_ptr<T> p, std::type_identity_t<T> value,
               std::source_location site = std::source_location::current()) {
  remote::start_atomic("async_xor", p, remote::atomic_operation::bit_xor, value, site);
}

}  // namespace apgas::inline v0
