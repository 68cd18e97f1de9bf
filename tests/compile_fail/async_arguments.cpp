// SPDX-License-Identifier: Apache-2.0
// Arguments for the task, as std::async takes them.
#include <apgas/apgas.hpp>

void work(int);
void slip() {
#ifdef APGAS_TEST_CONTROL
  apgas::async([] { work(3); });
#else
  apgas::async(work, 3);
#endif
}
