// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/sync/registration.hpp>

// What clocks and phasers say when they are used wrongly: clock_use_error or phaser_use_error.
namespace apgas::inline v0::sync {

[[noreturn]] void throw_no_implicit_clock(const char* operation);

// The running task may not signal or wait, being registered as it is; or its next_single is
// running.
void check_may_signal(const registration& r, const char* operation);
void check_may_wait(const registration& r, const char* operation);
void check_may_single(const registration& r, const char* operation);
void check_not_in_single(const registration& r, const char* operation);

[[noreturn]] void throw_bad_tree(const char* what, int given, std::int64_t most);

// Whether a child may be registered in `mode`: by a task that has as much, and inside the finish
// that it was acquired in.
void check_may_give(const registration& r, const scheduler::fiber& self, phaser_mode mode,
                    const char* operation);

}  // namespace apgas::inline v0::sync
