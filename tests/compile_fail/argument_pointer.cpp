// SPDX-License-Identifier: Apache-2.0
// A raw pointer cannot be an argument: it is not valid at the other place.
#include <apgas/at.hpp>

void send(apgas::place p) {
  int x = 1;
#ifdef APGAS_TEST_CONTROL
  apgas::at(p, [](int value) { return value; }, x);
#else
  apgas::at(p, [](int* value) { return *value; }, &x);
#endif
}
