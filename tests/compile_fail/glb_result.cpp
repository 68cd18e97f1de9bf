// SPDX-License-Identifier: Apache-2.0
// A bag of glb whose results cannot be added up.
#include <cstddef>
#include <optional>

#include <apgas/glb.hpp>

struct sum {
  long value = 0;
};

struct numbers {
  long left = 0;
  std::size_t process(std::size_t) { return 0; }
  std::optional<numbers> split() { return std::nullopt; }
  void merge(numbers&& other) { left += other.left; }
  sum result() const { return {}; }
};

void use() { apgas::glb(numbers{}); }
