// SPDX-License-Identifier: Apache-2.0
// A condition that is evaluated once, by the caller.
#include <apgas/apgas.hpp>

void slip(int& n) {
#ifdef APGAS_TEST_CONTROL
  apgas::when([&] { return n > 0; }, [&] { --n; });
#else
  apgas::when(n > 0, [&] { --n; });
#endif
}
