// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include <apgas/scheduler/fiber.hpp>

// For tasks that wait in a call whose line is unknown, as in a lock that std::lock_guard takes: the
// function of the program that has made the call, in place of the line.
namespace apgas::inline v0::scheduler {

class caller_names {
 public:
  // Whether a report has no line for this call.
  static bool lacks_line(const call_site& where) noexcept;

  // A new report begins, in which so many tasks at most are looked at.
  void begin_report() noexcept { left_ = looks_max; }

  // Returns the innermost function of the program on the stack of a fiber, with the file and the
  // offset in it, such as "solve_row (the program+0x12ab)"; empty if it is unknown. The text stays
  // valid. Requires: the fiber is suspended, and stays so meanwhile. Throws: std::bad_alloc.
  const char* caller_of(const fiber& f);

 private:
  static constexpr int looks_max = 2000;  // which take about 20 ms

  std::map<std::uintptr_t, std::string> by_address_;
  int left_ = looks_max;
};

}  // namespace apgas::inline v0::scheduler
