// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/sync/registration.hpp>

// The errors of clocks and phasers: each function throws clock_use_error or phaser_use_error with a
// message that names the operation, the problem and the remedy.
namespace apgas::inline v0::sync {

[[noreturn]] void throw_no_implicit_clock(const char* operation);

// Throw if the mode of the registration does not allow the operation, or if the task is inside the
// closure of its next_single.
void check_may_signal(const registration& r, const char* operation);
void check_may_wait(const registration& r, const char* operation);
void check_may_single(const registration& r, const char* operation);
void check_not_in_single(const registration& r, const char* operation);

[[noreturn]] void throw_bad_tree(const char* what, int given, std::int64_t most);

// Throws unless the task may register a child in `mode`: the task's own mode includes it, and a
// phaser was acquired inside the innermost finish, which is a rule of Habanero.
void check_may_give(const registration& r, const scheduler::fiber& self, phaser_mode mode,
                    const char* operation);

}  // namespace apgas::inline v0::sync
