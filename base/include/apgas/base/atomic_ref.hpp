// SPDX-License-Identifier: Apache-2.0
#pragma once

// Atomic access to an ordinary object: std::atomic_ref, or builtin_atomic_ref, because libc++ has
// none before version 19.

#include <atomic>
#include <type_traits>

#include <apgas/base/atomic.hpp>

namespace apgas::inline v0::base {

// The part of std::atomic_ref that this library uses, by builtin functions of the compiler.
// Requires: the object is aligned to its size, and T is a number of at most 8 bytes.
template <class T>
class builtin_atomic_ref {
 public:
  explicit builtin_atomic_ref(T& object) noexcept : object_(&object) {}

  T load(order o) const noexcept {
    T value;
    __atomic_load(object_, &value, static_cast<int>(o));
    return value;
  }
  void store(T value, order o) const noexcept {
    __atomic_store(object_, &value, static_cast<int>(o));
  }
  T exchange(T value, order o) const noexcept {
    T previous;
    __atomic_exchange(object_, &value, &previous, static_cast<int>(o));
    return previous;
  }
  bool compare_exchange_strong(T& expected, T desired, order success,
                               order failure) const noexcept {
    return __atomic_compare_exchange(object_, &expected, &desired, false, static_cast<int>(success),
                                     static_cast<int>(failure));
  }
  bool compare_exchange_weak(T& expected, T desired, order success, order failure) const noexcept {
    return __atomic_compare_exchange(object_, &expected, &desired, true, static_cast<int>(success),
                                     static_cast<int>(failure));
  }
  T fetch_add(T value, order o) const noexcept {
    if constexpr (std::is_integral_v<T>) {
      return __atomic_fetch_add(object_, value, static_cast<int>(o));
    } else {
      T previous = load(relaxed);
      while (!compare_exchange_weak(previous, previous + value, o, relaxed)) {
      }
      return previous;
    }
  }

 private:
  T* object_;
};

#ifdef __cpp_lib_atomic_ref
template <class T>
using atomic_ref = std::atomic_ref<T>;
#else
template <class T>
using atomic_ref = builtin_atomic_ref<T>;
#endif

}  // namespace apgas::inline v0::base
