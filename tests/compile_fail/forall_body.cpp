// SPDX-License-Identifier: Apache-2.0
// A body that takes an index and an element.
#include <vector>

#include <apgas/apgas.hpp>

void slip(std::vector<int>& v) {
#ifdef APGAS_TEST_CONTROL
  apgas::forall(v, [](int&) {});
#else
  apgas::forall(v, [](int, int&) {});
#endif
}
