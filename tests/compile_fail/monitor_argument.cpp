// SPDX-License-Identifier: Apache-2.0
// As sync_var_argument.cpp, for a monitor.
#include <apgas/apgas.hpp>

void slip(apgas::place p) {
  apgas::monitor m;
#ifdef APGAS_TEST_CONTROL
  apgas::at(p, [] {}), m.atomic([] {});
#else
  apgas::at(p, [](apgas::monitor& n) { n.atomic([] {}); }, m);
#endif
}
