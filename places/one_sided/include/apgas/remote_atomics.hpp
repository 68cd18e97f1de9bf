// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <source_location>
#include <type_traits>

#include <apgas/global_ptr.hpp>
#include <apgas/places/memory_atomics.hpp>
#include <apgas/places/message_access.hpp>

// Atomic operations on an element behind a global_ptr, from any place. They are sequentially
// consistent, among each other and with std::atomic_ref at the element's home; plain accesses by
// rput, rget and copy are not atomic beside them. They are done by processors, whatever the network
// could do.
//
// Elements are integers (but bool) or float or double. Loading, storing and exchanging have atomic_
// in their names, because std::exchange would compete.
//
// Throws of all: illegal_operation, as in one_sided.hpp.
// Context of all: task; not inside an atomic section. May suspend and resume elsewhere.
// Cost: where this place reaches the memory about 5 ns and what the processor takes; else a message
// each way.
namespace apgas::inline v0 {

template <class T>
concept remote_atomic_value = (std::integral<T> && !std::same_as<T, bool> && sizeof(T) <= 8) ||
                              std::same_as<T, float> || std::same_as<T, double>;

namespace remote {

template <class T>
memory_access atomic_access(const char* name, const allocation_range& range, atomic_operation operation,
                            T operand, T second) {
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

template <class T>
T atomic_load(global_ptr<T> p) {
  return remote::do_atomic("atomic_load", p, remote::atomic_operation::load, T{});
}

template <class T>
void atomic_store(global_ptr<T> p, std::type_identity_t<T> value) {
  remote::do_atomic("atomic_store", p, remote::atomic_operation::store, value);
}

// These return the value before.
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

// Stores `desired` if the value, compared by its bytes, is `expected`. True: it was; else
// `expected` is the value that was found.
template <class T>
bool compare_exchange(global_ptr<T> p, std::type_identity_t<T>& expected,
                      std::type_identity_t<T> desired) {
  const T found = remote::do_atomic("compare_exchange", p,
                                    remote::atomic_operation::compare_exchange, expected, desired);
  const bool stored = remote::to_word(found) == remote::to_word(expected);
  expected = found;
  return stored;
}

// The same without a result: the innermost finish waits for them.
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
