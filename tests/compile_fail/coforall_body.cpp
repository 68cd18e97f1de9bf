// SPDX-License-Identifier: Apache-2.0
// As forall_body.cpp.
#include <vector>

#include <apgas/apgas.hpp>

void slip(std::vector<int>& v) {
#ifdef APGAS_TEST_CONTROL
  apgas::coforall(v, [](int&) {});
#else
  apgas::coforall(v, [](int, int&) {});
#endif
}
