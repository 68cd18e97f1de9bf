// SPDX-License-Identifier: Apache-2.0
#pragma once

// The cores of a place, as its start record contains them.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <apgas/base/place_cores.hpp>

namespace apgas::inline v0::comm {

// Wire: part of the start record. The affinity mask is written as ranges. If it has more ranges
// than fit, such as a mask with every other processor, it is written as a window of 1,920 bits. So
// each mask of a host with up to 1,920 processors is sent exactly, and nearly every mask of a
// larger host. If a mask fits in neither form, it is cut off after the last range that fits. The
// place then uses no other processors, so that all places still compute the same division.
struct core_record {
  static constexpr std::size_t mask_words = 120;
  static constexpr std::size_t most_ranges = mask_words / 2;
  static constexpr std::size_t window = mask_words * 16;
  static constexpr std::size_t most_limits = 4;

  struct limit {
    std::uint64_t cgroup = 0;
    std::uint32_t millicores = 0;  // 0: this entry is not used
    std::uint32_t unused = 0;
  };

  std::uint64_t hardware = 0;
  limit limits[most_limits];  // the smallest limits
  std::uint16_t workers = 0;
  std::uint16_t binds = 0;
  std::uint16_t ranges = 0;             // the number of ranges; 0: the mask is a window of bits
  std::uint16_t first = 0;              // the processor of the first bit of the window
  std::uint16_t mask[mask_words] = {};  // first and last processor of each range, or the bits
};
static_assert(sizeof(core_record) == 320 && std::is_trivially_copyable_v<core_record>);

core_record pack_cores(const base::place_cores& cores);
base::place_cores unpack_cores(const core_record& record);

}  // namespace apgas::inline v0::comm
