// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks whether received bytes represent a value of the type they are read as. For almost every
// type that is copied as bytes, any bytes do, but using a bool with the value 2 is undefined
// behaviour. The check covers bool, also as an element of an array or a range. std::optional and
// std::variant are read by Cereal, which reads a checked bool or index first. Members of
// user-defined classes are not checked, since they cannot be named.

#include <array>
#include <cstddef>
#include <typeinfo>

#include <apgas/base/api.hpp>
#include <apgas/comm/byte_copyable.hpp>

namespace apgas::inline v0::comm::detail {

APGAS_API [[noreturn]] void no_such_value(const std::type_info& type);

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

// Checks `count` values of type T at `from`.
// Requires: `count * sizeof(T)` bytes are there.
// Throws: serialization_error.
template <class T>
void expect_values(const std::byte* from, std::size_t count = 1) {
  if constexpr (value_check<T>::needed) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!value_check<T>::holds(from + i * sizeof(T))) no_such_value(typeid(T));
    }
  }
}

}  // namespace apgas::inline v0::comm::detail
