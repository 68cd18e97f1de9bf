// SPDX-License-Identifier: Apache-2.0
// The body of a finish returns a reference.
#include <apgas/apgas.hpp>

void slip(int& x) {
#ifdef APGAS_TEST_CONTROL
  apgas::finish([&] { return x; });
#else
  apgas::finish([&]() -> int& { return x; });
#endif
}
