// SPDX-License-Identifier: Apache-2.0
// A place_local is constructed like an object; make is the way.
#include <vector>

#include <apgas/apgas.hpp>

void slip() {
#ifdef APGAS_TEST_CONTROL
  auto v = apgas::place_local<std::vector<int>>::make(apgas::places(),
                                                      [] { return std::vector<int>(9); });
#else
  apgas::place_local<std::vector<int>> v(apgas::places(), [] { return std::vector<int>(9); });
#endif
}
