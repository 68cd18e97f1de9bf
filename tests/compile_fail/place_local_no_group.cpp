// SPDX-License-Identifier: Apache-2.0
// make without the places that get a value.
#include <apgas/apgas.hpp>

void slip() {
#ifdef APGAS_TEST_CONTROL
  auto v = apgas::place_local<int>::make(apgas::places(), [] { return 5; });
#else
  auto v = apgas::place_local<int>::make([] { return 5; });
#endif
}
