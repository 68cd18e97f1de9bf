// SPDX-License-Identifier: Apache-2.0
// A bag of glb without split().
#include <cstddef>

#include <apgas/glb.hpp>

struct numbers {
  long left = 0;
  long sum = 0;
  std::size_t process(std::size_t) { return 0; }
  void merge(numbers&& other) { left += other.left; }
  long result() const { return sum; }
};

void use() { apgas::glb(numbers{}); }
