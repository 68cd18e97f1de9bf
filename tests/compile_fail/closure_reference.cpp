// SPDX-License-Identifier: Apache-2.0
// A closure captures by reference; the reference would dangle at the other place.
#include <apgas/at.hpp>

void send(apgas::place p) {
  int x = 1;
#ifdef APGAS_TEST_CONTROL
  apgas::at(p, [x] { return x; });
#else
  apgas::at(p, [&x] { return x; });
#endif
}
