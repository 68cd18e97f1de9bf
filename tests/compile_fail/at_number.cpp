// SPDX-License-Identifier: Apache-2.0
// The number of a place in the place of a place.
#include <apgas/apgas.hpp>

void slip() {
#ifdef APGAS_TEST_CONTROL
  apgas::at(apgas::place(3), [] {});
#else
  apgas::at(3, [] {});
#endif
}
