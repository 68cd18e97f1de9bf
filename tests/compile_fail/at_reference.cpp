// SPDX-License-Identifier: Apache-2.0
// A reference to an object of another type than the argument: nothing can be bound to it.
#include <apgas/apgas.hpp>

void slip(apgas::place p) {
#ifdef APGAS_TEST_CONTROL
  apgas::async_at(p, [](const long& n) { static_cast<void>(n); }, 1);
#else
  apgas::async_at(p, [](long& n) { n = 2; }, 1);
#endif
}
