// SPDX-License-Identifier: Apache-2.0
// fork_join takes its functions by value.
#include <apgas/apgas.hpp>

void slip() {
  auto f = [] { return 1; };
  auto g = [] { return 2; };
#ifdef APGAS_TEST_CONTROL
  apgas::fork_join(f, g);
#else
  apgas::fork_join(&f, &g);
#endif
}
