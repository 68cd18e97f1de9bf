// SPDX-License-Identifier: Apache-2.0
// A room includes a header of a room on which it does not depend: sync/tasks must not know
// sync/finish, which depends on it.
#include <apgas/sync/task.hpp>
#ifndef APGAS_TEST_CONTROL
#include <apgas/finish.hpp>
#endif

// The program consists of its includes only.
int main() {}
