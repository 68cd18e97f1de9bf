// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// A process has one program of places at a time: a call of apgas::run, or an apgas::runtime.
namespace apgas::inline v0::launch {

enum class program_kind : std::uint8_t { none, run, runtime };

// Makes a program of that kind the one of this process, for as long as the object lives.
class active_program {
 public:
  // Throws: illegal_operation when a task calls, when a program is active in this process, and in a
  // process that was forked while one was active in its parent.
  explicit active_program(program_kind kind);
  active_program(const active_program&) = delete;
  active_program& operator=(const active_program&) = delete;
  ~active_program();
};

// The kind of the program that is active in this process. A process that was forked while one was
// active has none: the threads of the program exist in its parent only. Context: any thread.
program_kind active_kind() noexcept;

}  // namespace apgas::inline v0::launch
