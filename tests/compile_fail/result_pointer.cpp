// SPDX-License-Identifier: Apache-2.0
// A raw pointer cannot be a result either.
#include <apgas/at.hpp>

static int there = 1;

void send(apgas::place p) {
#ifdef APGAS_TEST_CONTROL
  static_cast<void>(apgas::at(p, [] { return there; }));
#else
  static_cast<void>(apgas::at(p, [] { return &there; }));
#endif
}
