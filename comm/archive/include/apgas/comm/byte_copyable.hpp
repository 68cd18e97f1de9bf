// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides which types may be sent as their bytes: trivially copyable types that contain no pointer
// and no reference at any depth. The decision is made by the compiler:
//
//   - A type to which bytes can be cast in a constant expression contains neither (bit_castable).
//     The cast sees private members and closures. Lambdas are decided by this test alone.
//   - The test refuses some harmless types: std::optional, std::variant and unions; with clang 16
//     also bit-fields and std::complex. An aggregate with such members is examined member by
//     member, by trying what can initialise each of them (members_of).
//   - g++ cannot look into classes whose constructors are not constexpr (opaque_class). They are
//     accepted as arguments and refused as captures of a closure.
//   - Users can allow a type that is refused wrongly with apgas::send_as_bytes<T>.

#include <complex>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <variant>

#include <apgas/send_as_bytes.hpp>

namespace apgas::inline v0::comm {

template <class T>
concept address_like = std::is_pointer_v<T> || std::is_member_pointer_v<T> ||
                       std::is_null_pointer_v<T> || std::is_reference_v<T> || std::is_function_v<T>;

namespace detail {

template <std::size_t Bytes>
struct raw_bytes {
  unsigned char bytes[Bytes];
};

template <class T>
constexpr bool made(const T&) {
  return true;
}

}  // namespace detail

// The test for trivially copyable must come first, because otherwise the cast is a hard error. The
// first form is for g++, the second for clang and its types without a constexpr constructor.
template <class T>
concept bit_castable =
    std::is_trivially_copyable_v<T> && !address_like<T> && !std::is_array_v<T> && (requires {
      typename std::bool_constant<detail::made(
          __builtin_bit_cast(T, detail::raw_bytes<sizeof(T)>{}))>;
    } || requires {
      typename std::bool_constant<(__builtin_bit_cast(T, detail::raw_bytes<sizeof(T)>{}), true)>;
    });

namespace detail {

// A class that g++ cannot cast to because it lacks a constexpr constructor, so that nothing is
// known about its private members. It is assumed to contain no pointers: classes of vectors and
// matrices with constructors are of this kind.
template <class T>
concept opaque_class =
#ifdef __clang__
    false;
#else
    std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T> && std::is_class_v<T> &&
    !std::is_aggregate_v<T> && !__is_literal_type(T);
#endif

// Types that bit_castable refuses, but that are known to contain only what their parameters say.
template <class T>
inline constexpr bool known_value = bit_castable<T> || opaque_class<T>;
template <class T>
inline constexpr bool known_value<std::complex<T>> = true;
template <class T>
inline constexpr bool known_value<std::optional<T>> =
    std::is_trivially_copyable_v<std::optional<T>> && known_value<T>;
template <class... Ts>
inline constexpr bool known_value<std::variant<Ts...>> =
    std::is_trivially_copyable_v<std::variant<Ts...>> && (known_value<Ts> && ...);

// Each probe converts to one category of member types only. None of the conversions is ever called,
// but clang requires a body.
struct pointer_probe {
  template <class U>
  operator U*() const {
    __builtin_unreachable();
  }
  template <class U, class C>
  operator U C::*() const {
    __builtin_unreachable();
  }
};
struct opaque_probe {  // classes with constructors, and unions: their members cannot be examined
  template <class U>
    requires(std::is_union_v<U> || (std::is_class_v<U> && !std::is_aggregate_v<U>))
  operator U() const {
    __builtin_unreachable();
  }
};
struct known_probe {
  template <class U>
    requires(std::is_class_v<U> && !std::is_aggregate_v<U> && known_value<U>)
  operator U() const {
    __builtin_unreachable();
  }
};
struct scalar_probe {
  template <class U>
    requires(std::is_arithmetic_v<U> || std::is_enum_v<U>)
  operator U() const {
    __builtin_unreachable();
  }
};
struct any_probe {
  template <class U>
  operator U() const {
    __builtin_unreachable();
  }
};

template <class T, class... Probes>
concept initialised_by = requires { T{Probes{}...}; };

inline constexpr std::size_t most_members = 32;

enum class members { values, an_address, unknown };

// Classifies the members of the aggregate T that follow those initialised by Found. The probes rely
// on brace elision, so nested aggregates are examined as well.
template <class T, class... Found>
consteval members members_of() {
  if constexpr (sizeof...(Found) > most_members) {
    return members::unknown;
  } else if constexpr (initialised_by<T, Found..., pointer_probe>) {
    return members::an_address;
  } else if constexpr (initialised_by<T, Found..., known_probe>) {
    return members_of<T, Found..., known_probe>();
  } else if constexpr (initialised_by<T, Found..., opaque_probe>) {
    return members::unknown;
  } else if constexpr (initialised_by<T, Found..., scalar_probe>) {
    return members_of<T, Found..., scalar_probe>();
  } else {
    return initialised_by<T, Found..., any_probe> ? members::unknown : members::values;
  }
}

// T{} must be valid, so that any prefix of the members can be initialised.
template <class T>
concept open_aggregate = std::is_class_v<T> && std::is_aggregate_v<T> && initialised_by<T>;

// Standard layout excludes references.
template <class T>
concept value_aggregate = open_aggregate<T> && std::is_trivially_copyable_v<T> &&
                          std::is_standard_layout_v<T> && members_of<T>() == members::values;

// With g++ 12, bit_castable overlooks pointers in member arrays. In aggregates, including
// std::array, they are found here. In closures they are not found, since the types of the captures
// are not accessible.
template <class T>
concept address_aggregate = open_aggregate<T> && members_of<T>() == members::an_address;

template <class T>
concept complex_number =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>> ||
    std::is_same_v<T, std::complex<long double>>;

template <class T>
concept value_type = std::is_trivially_copyable_v<T> && !address_like<T> &&
                     (send_as_bytes<T> || (bit_castable<T> && !address_aggregate<T>) ||
                      complex_number<T> || value_aggregate<T> || opaque_class<T>);

}  // namespace detail

// Whether a T may be sent as its bytes. cv-qualifiers and array extents are ignored.
template <class T>
concept byte_copyable = detail::value_type<std::remove_cv_t<std::remove_all_extents_t<T>>>;

}  // namespace apgas::inline v0::comm
