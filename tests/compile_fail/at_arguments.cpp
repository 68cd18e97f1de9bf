// SPDX-License-Identifier: Apache-2.0
// A function that takes more arguments than it is given.
#include <apgas/apgas.hpp>

void slip(apgas::place p) {
#ifdef APGAS_TEST_CONTROL
  apgas::at(p, [](int a, int b) { return a + b; }, 1, 2);
#else
  apgas::at(p, [](int a, int b) { return a + b; }, 1);
#endif
}
