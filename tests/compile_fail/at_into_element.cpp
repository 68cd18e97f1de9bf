// SPDX-License-Identifier: Apache-2.0
// Elements that cannot be received as bytes.
#include <span>
#include <string>
#include <vector>

#include <apgas/at_into.hpp>

#ifdef APGAS_TEST_CONTROL
using element = int;
#else
using element = std::string;
#endif

void use(apgas::place p, std::span<element> result) {
  apgas::at_into(p, result, [] { return std::vector<element>(5); });
}
