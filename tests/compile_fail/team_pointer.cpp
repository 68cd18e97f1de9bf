// SPDX-License-Identifier: Apache-2.0
// A broadcast of a raw pointer.

#include <apgas/team.hpp>

#ifdef APGAS_TEST_CONTROL
using value = int;
#else
using value = int*;
#endif

void use(const apgas::team& t) { t.broadcast(value(), apgas::place()); }
