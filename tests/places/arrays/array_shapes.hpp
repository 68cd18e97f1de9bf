// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <apgas/apgas.hpp>

#include "check.hpp"

// The arrays that the tests of algorithms use.
namespace test {

// Empty arrays, fewer elements than places, and numbers that no number of places divides.
inline std::vector<std::size_t> sizes() { return {0, 1, 2, 3, 5, 64, 211}; }

// Calls f(size, distribution) for arrays of many shapes.
template <class F>
void for_shapes(F f) {
  using apgas::distribution;
  for (const std::size_t n : sizes()) {
    for (const distribution d :
         {distribution::block(), distribution::cyclic(), distribution::block_cyclic(3),
          distribution::block_cyclic(50), distribution::replicated()}) {
      f(n, d);
    }
  }
}

}  // namespace test
