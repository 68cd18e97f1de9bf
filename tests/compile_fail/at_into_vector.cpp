// SPDX-License-Identifier: Apache-2.0
// A vector in the place of a span.
#include <span>
#include <vector>

#include <apgas/apgas.hpp>

void slip(apgas::place p, std::vector<int>& result) {
#ifdef APGAS_TEST_CONTROL
  apgas::at_into(p, std::span(result), [] { return std::vector<int>(5); });
#else
  apgas::at_into(p, result, [] { return std::vector<int>(5); });
#endif
}
