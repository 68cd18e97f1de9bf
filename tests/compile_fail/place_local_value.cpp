// SPDX-License-Identifier: Apache-2.0
// make with a value instead of the function that returns it.
#include <apgas/apgas.hpp>

void slip() {
#ifdef APGAS_TEST_CONTROL
  auto v = apgas::place_local<int>::make(apgas::places(), [] { return 5; });
#else
  auto v = apgas::place_local<int>::make(apgas::places(), 5);
#endif
}
