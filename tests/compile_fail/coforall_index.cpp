// SPDX-License-Identifier: Apache-2.0
// As forall_index.cpp.
#include <apgas/apgas.hpp>

void slip() {
#ifdef APGAS_TEST_CONTROL
  apgas::coforall(0, 10, [](int) {});
#else
  apgas::coforall(0, 10, [] {});
#endif
}
