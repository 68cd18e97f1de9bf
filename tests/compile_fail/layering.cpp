// SPDX-License-Identifier: Apache-2.0
// A module includes a header of a module on which it does not depend: comm must not know the
// scheduler, and the include directories of comm do not contain it.
#include <apgas/base/assert.hpp>
#ifndef APGAS_TEST_CONTROL
#include <apgas/scheduler/scheduler.hpp>
#endif

// The program consists of its includes only.
int main() {}
