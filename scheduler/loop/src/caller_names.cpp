// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "caller_names.hpp"
#include "frame_names.hpp"
#include "suspended_frames.hpp"
#include "wait_groups.hpp"

namespace apgas::inline v0::scheduler {
namespace {

constexpr std::size_t frames_max = 24;  // between the switch and the function of the program

}  // namespace

bool caller_names::lacks_line(const call_site& where) noexcept {
  return where.line() == 0 || is_of_standard_library(where);
}

// An address that is not of the program has an empty text. So the files are read once for each.
const char* caller_names::caller_of(const fiber& f) {
  if (left_-- <= 0) return "";
  for (const std::uintptr_t address : frames_of_suspended(f, frames_max)) {
    auto known = by_address_.find(address);
    if (known == by_address_.end())
      known = by_address_.emplace(address, function_of_program(address)).first;
    if (!known->second.empty()) return known->second.c_str();
  }
  return "";
}

}  // namespace apgas::inline v0::scheduler
