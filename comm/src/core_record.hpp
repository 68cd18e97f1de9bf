// SPDX-License-Identifier: Apache-2.0
#pragma once

// The cores of a place as its start record carries them.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <apgas/base/place_cores.hpp>

namespace apgas::inline v0::comm {

// Wire: part of the start record. The affinity mask is written as ranges, or as a window of bits
// where it has more ranges than fit: every other processor of 1,920, or of those of one socket. So
// each mask of a host with up to 1,920 processors is told exactly, and nearly every one of a larger
// host. Of any other mask the processors up to the last range that fits are told; the place uses no
// others, so that all places still compute the same division.
struct core_record {
  static constexpr std::size_t mask_words = 120;
  static constexpr std::size_t most_ranges = mask_words / 2;
  static constexpr std::size_t window = mask_words * 16;
  static constexpr std::size_t most_limits = 4;

  struct limit {
    std::uint64_t cgroup = 0;
    std::uint32_t millicores = 0;  // 0: there is none
    std::uint32_t unused = 0;
  };

  std::uint64_t hardware = 0;
  limit limits[most_limits];  // the smallest ones
  std::uint16_t workers = 0;
  std::uint16_t binds = 0;
  std::uint16_t ranges = 0;             // their number; 0: the mask is a window of bits
  std::uint16_t first = 0;              // the processor of the first bit
  std::uint16_t mask[mask_words] = {};  // first and last processor of each range; or the bits
};
static_assert(sizeof(core_record) == 320 && std::is_trivially_copyable_v<core_record>);

core_record pack_cores(const base::place_cores& cores);
base::place_cores unpack_cores(const core_record& record);

}  // namespace apgas::inline v0::comm
