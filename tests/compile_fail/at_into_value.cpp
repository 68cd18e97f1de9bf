// SPDX-License-Identifier: Apache-2.0
// A function that returns no range of the elements of the span.
#include <span>
#include <vector>

#include <apgas/apgas.hpp>

#ifdef APGAS_TEST_CONTROL
using element = int;
#else
using element = long;
#endif

void slip(apgas::place p, std::span<int> result) {
  apgas::at_into(p, result, [] { return std::vector<element>(5); });
}
