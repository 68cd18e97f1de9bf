// SPDX-License-Identifier: Apache-2.0
#pragma once

// Prevents false sharing: keeps data that different threads write on different cache lines.

#include <cstddef>
#include <utility>

namespace apgas::inline v0::base {

// The assumed size of a cache line in bytes. It is a constant of our own because the value of
// std::hardware_destructive_interference_size depends on compiler flags, and the layout of public
// types must not.
inline constexpr std::size_t cache_line_bytes = 64;

// A T that shares its cache lines with no other object. It is used like a pointer to the T.
template <class T>
class alignas(cache_line_bytes) cache_aligned {
 public:
  template <class... Args>
  explicit cache_aligned(Args&&... args) : value_(std::forward<Args>(args)...) {}

  T& operator*() noexcept { return value_; }
  const T& operator*() const noexcept { return value_; }
  T* operator->() noexcept { return &value_; }
  const T* operator->() const noexcept { return &value_; }

 private:
  T value_;
};

}  // namespace apgas::inline v0::base
