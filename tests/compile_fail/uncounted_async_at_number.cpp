// SPDX-License-Identifier: Apache-2.0
// As at_number.cpp.
#include <apgas/apgas.hpp>

void slip() {
#ifdef APGAS_TEST_CONTROL
  apgas::uncounted_async_at(apgas::place(3), [] {});
#else
  apgas::uncounted_async_at(3, [] {});
#endif
}
