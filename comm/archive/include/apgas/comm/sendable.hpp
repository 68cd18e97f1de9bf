// SPDX-License-Identifier: Apache-2.0
#pragma once

// The types that at, async_at and similar functions accept, as concepts, and compile-time errors
// that say why a type is refused and what to do instead. All apply to decayed types.
//
//   function objects   an empty or trivially copyable closure without references and pointers, or a
//                      class with a Cereal serialize
//   values             byte_copyable types, and types that Cereal serialises, including their
//                      element types

#include <array>
#include <concepts>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <apgas/comm/archive_cereal.hpp>
#include <apgas/comm/bound_to_place.hpp>
#include <apgas/comm/byte_copyable.hpp>

namespace apgas::inline v0::comm {

namespace detail {

template <class T>
consteval bool sendable();

template <class T>
concept member_serialized = cereal::traits::has_member_serialize<T, cereal_writer>::value ||
                            cereal::traits::has_member_save<T, cereal_writer>::value ||
                            cereal::traits::has_member_save_minimal<T, cereal_writer>::value;

template <class T>
concept container = requires(T& t) {
  typename T::value_type;
  t.begin();
  t.end();
};

// Cereal examines only the outermost type. These examine the types inside.
template <class T>
struct parts_sendable : std::true_type {};
template <container T>
  requires(!member_serialized<T>)
struct parts_sendable<T> : std::bool_constant<sendable<typename T::value_type>()> {};
template <class A, class B>
struct parts_sendable<std::pair<A, B>> : std::bool_constant<sendable<A>() && sendable<B>()> {};
template <class... Ts>
struct parts_sendable<std::tuple<Ts...>> : std::bool_constant<(sendable<Ts>() && ...)> {};
template <class... Ts>
struct parts_sendable<std::variant<Ts...>> : std::bool_constant<(sendable<Ts>() && ...)> {};
template <class T>
struct parts_sendable<std::optional<T>> : std::bool_constant<sendable<T>()> {};
template <class T, class Deleter>
struct parts_sendable<std::unique_ptr<T, Deleter>> : std::bool_constant<sendable<T>()> {};
template <class T>
struct parts_sendable<std::shared_ptr<T>> : std::bool_constant<sendable<T>()> {};
template <class T>
struct parts_sendable<std::weak_ptr<T>> : std::bool_constant<sendable<T>()> {};

template <class T>
consteval bool sendable() {
  using type = std::remove_cv_t<T>;
  if constexpr (address_like<type> || std::is_void_v<type>) {
    return false;
  } else if constexpr (as_bytes<type>) {
    return true;
  } else if constexpr (cereal_handles<type>) {
    return parts_sendable<type>::value;
  } else {
    return false;
  }
}

}  // namespace detail

// An argument or a result. T must be an object type without cv-qualifiers.
template <class T>
concept sendable_value = std::is_object_v<T> && !std::is_array_v<T> && detail::sendable<T>();

template <class R>
concept sendable_result = std::is_void_v<R> || sendable_value<std::decay_t<R>>;

template <class F>
concept sendable_closure = std::is_class_v<F> && (detail::own_serialize<F> ||
                                                  (byte_copyable<F> && !detail::opaque_class<F>));

// Each of these compiles only for a type that can be sent. For other types, one line of the
// compiler's output explains the reason; they return true all the same, so that no second error
// follows from it.

template <class F>
consteval bool require_sendable_closure() {
  if constexpr (!sendable_closure<F>) {
    static_assert(!address_like<F>,
                  "apgas: a function pointer cannot be sent: the function may have another address "
                  "in the other process. Call it from a lambda: at(p, [] { return f(); })");
    if constexpr (std::is_class_v<F>) {
      static_assert(std::is_trivially_copyable_v<F>,
                    "apgas: this closure captures an object that is not trivially copyable (such "
                    "as a string or a vector). Pass it as an argument instead: at(p, [](auto& v) "
                    "{ ... }, v), or give a function object a Cereal serialize");
      if constexpr (std::is_trivially_copyable_v<F>) {
        static_assert(std::is_standard_layout_v<F>,
                      "apgas: this closure captures by reference, or captures an object that holds "
                      "a reference; it would dangle at the other place. Capture by value, or pass "
                      "the value as an argument; for shared state use apgas::global_ref");
        static_assert(
            !std::is_standard_layout_v<F>,
            "apgas: this closure captures a pointer (`this` is one), or a type that the "
            "compiler cannot distinguish from one: std::optional, std::variant, a union, "
            "a class without a constexpr constructor, or a class with such a member. Pass "
            "the value as an argument instead; for shared state use apgas::global_ref");
      }
    }
  }
  return true;
}

template <class T>
consteval bool require_sendable_value() {
  if constexpr (bound_to_place<T> || (std::is_class_v<T> && !std::move_constructible<T>)) {
    static_assert(!std::is_class_v<T>,
                  "apgas: this argument or result belongs to its place and cannot be sent, as "
                  "futures, promises, sync variables, monitors, locks and all other types that "
                  "cannot be moved. Keep the object at its place, send an apgas::global_ref to it, "
                  "and use it there: at(r.home(), [r] { ... })");
  } else if constexpr (!sendable_value<T>) {
    static_assert(!address_like<T>,
                  "apgas: a raw pointer cannot be an argument or a result, nor can a string "
                  "literal: send the value it points to, std::string for text, or an "
                  "apgas::global_ref");
    if constexpr (!address_like<T>) {
      static_assert(!std::is_trivially_copyable_v<T>,
                    "apgas: this argument or result holds a pointer or a reference, or private "
                    "members that may be one. Send the object it refers to (std::string for "
                    "std::string_view, std::vector for std::span), give it a Cereal serialize, or "
                    "set apgas::send_as_bytes<T> to true if its bytes are its whole value");
      static_assert(std::is_trivially_copyable_v<T>,
                    "apgas: this argument or result is not trivially copyable, and Cereal finds no "
                    "serialize (or save and load) for it or for its elements. Give it one: "
                    "template <class A> void serialize(A& a) { a(member, ...); }");
    }
  }
  return true;
}

}  // namespace apgas::inline v0::comm
