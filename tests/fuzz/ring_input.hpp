// SPDX-License-Identifier: Apache-2.0
#pragma once

// An input of the fuzz target ring: ring_input, and then the bytes of a ring from the first record
// on.

#include <cstddef>
#include <cstdint>

#include "ring.hpp"
#include "ring_record.hpp"

namespace apgas_fuzz {

inline constexpr std::size_t ring_places = 3;
inline constexpr std::uint64_t ring_run = 1;

struct ring_input {
  std::uint8_t before_end = 0;  // the first record is so many words before the end of a lap
  std::uint8_t unused[7] = {};
  std::int32_t written[2] =
      {};  // what the sender has written at two looks, beyond the first record
  std::uint64_t copy[apgas::comm::copied_words] = {};  // beside the position
};
static_assert(sizeof(ring_input) == 136);

// The position of the first record.
inline std::uint64_t first_position(const ring_input& input) {
  if (input.before_end == 0) return 0;
  return apgas::comm::ring_capacity(ring_places) - std::uint64_t{8} * input.before_end;
}

}  // namespace apgas_fuzz
