// SPDX-License-Identifier: Apache-2.0
// A closure captures a pointer, which is not valid at the other place.
#include <apgas/at.hpp>

void send(apgas::place p) {
  int x = 1;
  int* to_x = &x;
#ifdef APGAS_TEST_CONTROL
  apgas::at(p, [x] { return x; });
  static_cast<void>(to_x);
#else
  apgas::at(p, [to_x] { return *to_x; });
#endif
}
