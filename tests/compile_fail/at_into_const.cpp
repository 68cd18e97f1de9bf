// SPDX-License-Identifier: Apache-2.0
// A span of const elements, into which nothing can be received.
#include <span>
#include <vector>

#include <apgas/at_into.hpp>

#ifdef APGAS_TEST_CONTROL
using value = int;
#else
using value = const int;
#endif

void use(apgas::place p, std::span<value> result) {
  apgas::at_into(p, result, [] { return std::vector<int>(5); });
}
