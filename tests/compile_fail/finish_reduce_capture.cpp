// SPDX-License-Identifier: Apache-2.0
// The operation of a finish_reduce captures something.
#include <apgas/apgas.hpp>

void slip(int n) {
#ifdef APGAS_TEST_CONTROL
  apgas::finish_reduce(0, [](int a, int b) { return a + b; }, [] {});
#else
  apgas::finish_reduce(0, [n](int a, int b) { return (a + b) % n; }, [] {});
#endif
}
