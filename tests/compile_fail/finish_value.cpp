// SPDX-License-Identifier: Apache-2.0
// A finish around a value instead of a function.
#include <apgas/apgas.hpp>

int work();
void slip() {
#ifdef APGAS_TEST_CONTROL
  apgas::finish([] { return work(); });
#else
  apgas::finish(work());
#endif
}
