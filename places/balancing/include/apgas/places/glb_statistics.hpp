// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <vector>

#include <apgas/base/api.hpp>

// Statistics of a glb.
namespace apgas::inline v0 {

// Counts of events at one place during a glb. Context: any thread, as for any value.
//
//   const std::vector<apgas::glb_statistics> places(2);  // in programs: glb_result::places
//   apgas::glb_statistics sum;
//   for (const apgas::glb_statistics& each : places) sum += each;
//   std::cout << sum.done << " tasks\n" << places;
struct glb_statistics {
  std::uint64_t done = 0;             // tasks processed
  std::uint64_t chunks = 0;           // calls of process()
  std::uint64_t shared = 0;           // loot passed between workers of this place
  std::uint64_t asked_at_random = 0;  // steal attempts at random places
  std::uint64_t asked_lifelines = 0;  // steal attempts at lifelines
  std::uint64_t refused = 0;          // steal attempts that brought no loot
  std::uint64_t pieces_sent = 0;      // loot sent to other places
  std::uint64_t pieces_received = 0;  // loot received from other places
  std::uint64_t dormant = 0;          // how often the place became dormant

  // Adds the counts of another place; compares all counts.
  APGAS_API glb_statistics& operator+=(const glb_statistics& other) noexcept;
  bool operator==(const glb_statistics&) const = default;
};

// Prints a table: one line for each place, and one for their sum. Throws: what `out` throws.
// Context: any thread.
APGAS_API std::ostream& operator<<(std::ostream& out, const std::vector<glb_statistics>& places);

}  // namespace apgas::inline v0
