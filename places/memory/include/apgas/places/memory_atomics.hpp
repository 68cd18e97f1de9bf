// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <apgas/base/atomic.hpp>
#include <apgas/base/atomic_ref.hpp>

// Atomic operations on a word of another place's memory. A processor executes them on a host that
// has the memory, never a network card. So the operations of all places, and those of
// std::atomic_ref at the home, are atomic with respect to each other
// (docs/decisions/0011-one-sided.md).
//
// Pairs
//   P1  All operations are sequentially consistent. A task that sees the effect of one also sees
//       everything its caller did before.
namespace apgas::inline v0::remote {

enum class atomic_operation : std::uint8_t {
  load = 1,
  store,
  exchange,
  compare_exchange,  // operand: the expected value, second: the desired one
  add,
  bit_and,
  bit_or,
  bit_xor,
};

enum class atomic_word : std::uint8_t { bits8 = 1, bits16, bits32, bits64, real32, real64 };

struct atomic_request {
  atomic_operation operation = atomic_operation::load;
  atomic_word word = atomic_word::bits64;
  std::uint64_t operand = 0;  // the bytes of the value, filled up with zeros
  std::uint64_t second = 0;
};

constexpr std::size_t bytes_of(atomic_word w) noexcept {
  switch (w) {
    case atomic_word::bits8:
      return 1;
    case atomic_word::bits16:
      return 2;
    case atomic_word::bits32:
    case atomic_word::real32:
      return 4;
    case atomic_word::bits64:
    case atomic_word::real64:
      return 8;
  }
  return 0;
}

template <class T>
consteval atomic_word word_of() {
  if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) == 4 ? atomic_word::real32 : atomic_word::real64;
  } else {
    return static_cast<atomic_word>(std::countr_zero(sizeof(T)) + 1);
  }
}

template <class T>
std::uint64_t to_word(T value) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  return word;
}
template <class T>
T from_word(std::uint64_t word) noexcept {
  T value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

template <class T>
T negated(T value) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    return -value;
  } else {
    return static_cast<T>(std::uint64_t{0} - static_cast<std::uint64_t>(value));
  }
}

template <class T>
T combined(atomic_operation operation, T found, T operand) noexcept {
  switch (operation) {
    case atomic_operation::bit_and:
      return static_cast<T>(found & operand);
    case atomic_operation::bit_or:
      return static_cast<T>(found | operand);
    default:
      return static_cast<T>(found ^ operand);
  }
}

// Applies the operation and returns the previous value. A compare_exchange has stored the desired
// value if the previous one equals `operand`.
// Requires: `at` is aligned for T, and T has the operation.
template <class T>
[[gnu::always_inline]] inline T apply_atomic(atomic_operation operation, T* at, T operand,
                                             T second) noexcept {
  const base::atomic_ref<T> word(*at);
  switch (operation) {
    case atomic_operation::load:
      return word.load(base::seq_cst);  // P1
    case atomic_operation::store:
      word.store(operand, base::seq_cst);  // P1
      return operand;
    case atomic_operation::exchange:
      return word.exchange(operand, base::seq_cst);  // P1
    case atomic_operation::compare_exchange: {
      T found = operand;
      word.compare_exchange_strong(found, second, base::seq_cst, base::seq_cst);  // P1
      return found;
    }
    case atomic_operation::add:
      return word.fetch_add(operand, base::seq_cst);  // P1
    default:
      break;
  }
  T found = word.load(base::relaxed);
  if constexpr (std::is_integral_v<T>) {
    // Not fetch_or and the like: g++ 12 returns their operand for the previous value here.
    while (!word.compare_exchange_weak(found, combined(operation, found, operand),
                                       base::seq_cst,  // P1
                                       base::relaxed)) {
    }
  }
  return found;
}

// The same for a request that came in a message.
// Requires: valid(request), and `at` is aligned for its word.
std::uint64_t apply_atomic(const atomic_request& request, std::byte* at) noexcept;
// Whether the request names an operation that its word type has.
bool valid(const atomic_request& request) noexcept;

}  // namespace apgas::inline v0::remote
