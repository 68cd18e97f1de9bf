// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <source_location>
#include <utility>

// The first argument of a spawning function that takes any number of arguments. Converting to it
// records the source location of the call, which cannot be a defaulted parameter behind a pack.
namespace apgas::inline v0::sync {

// Holds the argument and where the call is.
template <class T>
struct spawn_from {
  template <class U>
    requires std::convertible_to<U, T>
  spawn_from(U&& v,
             std::source_location s = std::source_location::current())  // NOLINT(*-explicit-*)
      : value(std::forward<U>(v)), site(s) {}

  T value;
  std::source_location site;
};

}  // namespace apgas::inline v0::sync
