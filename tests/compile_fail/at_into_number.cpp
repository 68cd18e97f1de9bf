// SPDX-License-Identifier: Apache-2.0
// A number in the place of a place.
#include <array>
#include <span>

#include <apgas/apgas.hpp>

void slip(std::array<int, 2>& result) {
#ifdef APGAS_TEST_CONTROL
  apgas::at_into(apgas::place(3), std::span(result), [] { return std::array{1, 2}; });
#else
  apgas::at_into(3, std::span(result), [] { return std::array{1, 2}; });
#endif
}
