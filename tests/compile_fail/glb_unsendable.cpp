// SPDX-License-Identifier: Apache-2.0
// A bag of glb that cannot be sent.
#include <cstddef>
#include <optional>
#include <vector>

#include <apgas/glb.hpp>

struct numbers {
  std::vector<long> left;
  std::size_t process(std::size_t) { return 0; }
  std::optional<numbers> split() { return std::nullopt; }
  void merge(numbers&& other) { left = other.left; }
  long result() const { return 0; }
};

void use() { apgas::glb(numbers{}); }
