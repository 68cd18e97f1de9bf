// SPDX-License-Identifier: Apache-2.0
// A closure captures `this`, which is a pointer.
#include <apgas/at.hpp>

struct counter {
  int value = 1;
  int read_at(apgas::place p) const {
#ifdef APGAS_TEST_CONTROL
    return apgas::at(p, [copy = *this] { return copy.value; });
#else
    return apgas::at(p, [this] { return value; });
#endif
  }
};

int send(apgas::place p) { return counter().read_at(p); }
