// SPDX-License-Identifier: Apache-2.0
// As closure_reference.cpp, for async_at.
#include <apgas/at.hpp>

void send(apgas::place p) {
  int x = 1;
#ifdef APGAS_TEST_CONTROL
  apgas::async_at(p, [x] { static_cast<void>(x); });
#else
  apgas::async_at(p, [&x] { static_cast<void>(x); });
#endif
}
