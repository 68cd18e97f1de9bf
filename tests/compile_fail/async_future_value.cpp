// SPDX-License-Identifier: Apache-2.0
// As async_value.cpp, for a future.
#include <apgas/apgas.hpp>

int work();
void slip() {
#ifdef APGAS_TEST_CONTROL
  apgas::async_future([] { return work(); });
#else
  apgas::async_future(work());
#endif
}
