// SPDX-License-Identifier: Apache-2.0
// A body without the index.
#include <apgas/apgas.hpp>

void slip() {
#ifdef APGAS_TEST_CONTROL
  apgas::forall(0, 10, [](int) {});
#else
  apgas::forall(0, 10, [] {});
#endif
}
