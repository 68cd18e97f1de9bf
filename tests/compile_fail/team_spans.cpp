// SPDX-License-Identifier: Apache-2.0
// A collective over two spans whose element types differ.
#include <span>

#include <apgas/team.hpp>

#ifdef APGAS_TEST_CONTROL
using value = int;
#else
using value = long;
#endif

void use(const apgas::team& t, std::span<const int> mine, std::span<value> all) {
  t.gather(mine, all, apgas::place());
}
