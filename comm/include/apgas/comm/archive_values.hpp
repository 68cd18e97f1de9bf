// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether bytes that came in are a value of the type they are read as. To almost every type that is
// copied as bytes, any bytes are one; to use a bool of 2 or the seventh of two choices is
// undefined. Looked at are bool, std::optional and std::variant, also as elements of arrays and
// ranges. Inside a class of a user nothing is looked at: its members cannot be named.

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <typeinfo>
#include <utility>
#include <variant>

#include <apgas/comm/byte_copyable.hpp>

namespace apgas::inline v0::comm::detail {

[[noreturn]] void no_such_value(const std::type_info& type);

template <class T>
struct value_check {
  static constexpr bool needed = false;
  static bool holds(const std::byte*) noexcept { return true; }
};

template <>
struct value_check<bool> {
  static constexpr bool needed = true;
  static bool holds(const std::byte* from) noexcept { return *from <= std::byte{1}; }
};

// Both standard libraries put the flag behind the value.
template <class T>
struct value_check<std::optional<T>> {
  static constexpr bool needed = true;
  static bool holds(const std::byte* from) noexcept {
    static_assert(sizeof(std::optional<T>) > sizeof(T));
    if (!value_check<bool>::holds(from + sizeof(T))) return false;
    return from[sizeof(T)] == std::byte{0} || value_check<T>::holds(from);
  }
};

template <class... Ts>
struct value_check<std::variant<Ts...>> {
  static constexpr bool needed = true;
  static bool holds(const std::byte* from) noexcept {
    using variant = std::variant<Ts...>;
    raw_bytes<sizeof(variant)> raw;
    std::memcpy(&raw, from, sizeof(raw));
    const std::size_t chosen = __builtin_bit_cast(variant, raw).index();
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return ((chosen == I && value_check<Ts>::holds(from)) || ...);
    }(std::index_sequence_for<Ts...>{});
  }
};

template <class T, std::size_t Size>
struct value_check<T[Size]> {
  static constexpr bool needed = value_check<T>::needed;
  static bool holds(const std::byte* from) noexcept {
    for (std::size_t i = 0; i < Size; ++i) {
      if (!value_check<T>::holds(from + i * sizeof(T))) return false;
    }
    return true;
  }
};
template <class T, std::size_t Size>
struct value_check<std::array<T, Size>> : value_check<T[Size]> {};
template <class T>
struct value_check<std::array<T, 0>> : value_check<char> {};

// Throws: serialization_error. Requires: `count` times the size of a T are there.
template <class T>
void expect_values(const std::byte* from, std::size_t count = 1) {
  if constexpr (value_check<T>::needed) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!value_check<T>::holds(from + i * sizeof(T))) no_such_value(typeid(T));
    }
  }
}

}  // namespace apgas::inline v0::comm::detail
