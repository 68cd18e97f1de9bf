// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps data of different writers on different cache lines.

#include <cstddef>
#include <utility>

namespace apgas::inline v0::base {

// A constant, not std::hardware_destructive_interference_size: that one changes with compiler
// flags and would make the layout of public types depend on them.
inline constexpr std::size_t cache_line_bytes = 64;

// A T alone on its cache lines.
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
