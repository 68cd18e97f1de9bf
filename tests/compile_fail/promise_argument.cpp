// SPDX-License-Identifier: Apache-2.0
// As future_argument.cpp, for a promise.
#include <apgas/apgas.hpp>

void slip(apgas::place p) {
  const apgas::promise<int> f;
#ifdef APGAS_TEST_CONTROL
  f.set_value(apgas::at(p, [] { return 1; }));
#else
  apgas::async_at(p, [](const apgas::promise<int>& g) { g.set_value(1); }, f);
#endif
}
