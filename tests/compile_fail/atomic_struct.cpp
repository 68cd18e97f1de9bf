// SPDX-License-Identifier: Apache-2.0
// A remote atomic operation on an element that is not a number.
#include <apgas/remote_atomics.hpp>

struct pair {
  int a, b;
};

#ifdef APGAS_TEST_CONTROL
using element = long;
#else
using element = pair;
#endif

void exchange(apgas::global_ptr<element> p) { apgas::atomic_exchange(p, element()); }
