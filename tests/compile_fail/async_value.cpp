// SPDX-License-Identifier: Apache-2.0
// The function is called where the task should call it.
#include <apgas/apgas.hpp>

int work();
void slip() {
#ifdef APGAS_TEST_CONTROL
  apgas::async([] { work(); });
#else
  apgas::async(work());
#endif
}
