// SPDX-License-Identifier: Apache-2.0
// A future belongs to the place where it was made.
#include <apgas/apgas.hpp>

void slip(apgas::place p) {
  const auto f = apgas::async_future([] { return 1; });
#ifdef APGAS_TEST_CONTROL
  apgas::at(p, [](int n) { return n; }, f.get());
#else
  apgas::at(p, [](const apgas::future<int>& g) { return g.get(); }, f);
#endif
}
