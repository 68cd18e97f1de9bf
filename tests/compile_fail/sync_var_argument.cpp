// SPDX-License-Identifier: Apache-2.0
// A sync_var cannot even be moved.
#include <apgas/apgas.hpp>

void slip(apgas::place p) {
  apgas::sync_var<int> v;
#ifdef APGAS_TEST_CONTROL
  v.write_ef(apgas::at(p, [] { return 1; }));
#else
  apgas::async_at(p, [](apgas::sync_var<int>& w) { w.write_ef(1); }, v);
#endif
}
