// SPDX-License-Identifier: Apache-2.0
// A task as an argument of a call to another place.
#include <apgas/apgas.hpp>

void slip(apgas::task<int> t) {
#ifdef APGAS_TEST_CONTROL
  apgas::at(apgas::here(), [](int) {}, apgas::sync_wait(std::move(t)));
#else
  apgas::at(apgas::here(), [](const apgas::task<int>&) {}, t);
#endif
}
