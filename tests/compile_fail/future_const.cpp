// SPDX-License-Identifier: Apache-2.0
// A future of a const type.
#include <apgas/apgas.hpp>

void slip() {
#ifdef APGAS_TEST_CONTROL
  const apgas::future<int> f;
#else
  const apgas::future<const int> f;
#endif
}
