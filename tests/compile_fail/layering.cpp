// SPDX-License-Identifier: Apache-2.0
// A module that includes a header of one it does not depend on: comm, which must not know the
// scheduler. The include folders of comm do not lead there.
#include <apgas/base/assert.hpp>
#ifndef APGAS_TEST_CONTROL
#include <apgas/scheduler/scheduler.hpp>
#endif

// Including is all this program does.
int main() {}
