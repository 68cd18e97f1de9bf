// SPDX-License-Identifier: Apache-2.0
// The functions are called where fork_join should call them.
#include <apgas/apgas.hpp>

int work();
void slip() {
#ifdef APGAS_TEST_CONTROL
  apgas::fork_join(work, work);
#else
  apgas::fork_join(work(), work());
#endif
}
