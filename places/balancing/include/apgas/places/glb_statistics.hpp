// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <vector>

// What happened in a glb, counted.
namespace apgas::inline v0 {

struct glb_statistics {
  std::uint64_t done = 0;    // tasks
  std::uint64_t chunks = 0;  // calls of process
  std::uint64_t shared = 0;  // pieces that workers gave each other within the place
  std::uint64_t asked_at_random = 0;
  std::uint64_t asked_lifelines = 0;
  std::uint64_t refused = 0;      // of what was asked
  std::uint64_t pieces_sent = 0;  // to other places, as an answer or a gift
  std::uint64_t pieces_received = 0;
  std::uint64_t dormant = 0;  // times that everyone had been asked in vain

  glb_statistics& operator+=(const glb_statistics& other) noexcept;
  bool operator==(const glb_statistics&) const = default;
};

// A table: a line for each place, and one for all.
std::ostream& operator<<(std::ostream& out, const std::vector<glb_statistics>& places);

}  // namespace apgas::inline v0
