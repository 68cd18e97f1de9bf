// SPDX-License-Identifier: Apache-2.0
// A bag of glb whose process() does not return the number of tasks.
#include <cstddef>
#include <optional>

#include <apgas/glb.hpp>

struct numbers {
  long left = 0;
  long sum = 0;
  bool process(std::size_t) { return left != 0; }
  std::optional<numbers> split() { return std::nullopt; }
  void merge(numbers&& other) { left += other.left; }
  long result() const { return sum; }
};

void use() { apgas::glb(numbers{}); }
