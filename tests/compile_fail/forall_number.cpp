// SPDX-License-Identifier: Apache-2.0
// A loop over a number.
#include <apgas/apgas.hpp>

void slip() {
#ifdef APGAS_TEST_CONTROL
  apgas::forall(0, 10, [](int) {});
#else
  apgas::forall(10, [](int) {});
#endif
}
