// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "core_record.hpp"

namespace apgas::inline v0::comm {
namespace {

constexpr int most_processors = 65536;  // more than Linux supports; the limit of 16 bits
constexpr std::size_t mask_word_bits = 16;

struct range {
  std::uint16_t first;
  std::uint16_t last;
};

// Requires: the processors are in ascending order.
std::vector<range> ranges_of(const std::vector<int>& processors) {
  std::vector<range> ranges;
  for (const int each : processors) {
    if (each >= most_processors) break;
    const auto number = static_cast<std::uint16_t>(each);
    if (!ranges.empty() && ranges.back().last + 1 == each) {
      ranges.back().last = number;
    } else {
      ranges.push_back({.first = number, .last = number});
    }
  }
  return ranges;
}

void pack_mask(const std::vector<int>& processors, core_record& record) {
  const std::vector<range> ranges = ranges_of(processors);
  if (ranges.empty()) return;
  const std::uint16_t first = ranges.front().first;
  if (ranges.size() > core_record::most_ranges &&
      ranges.back().last - first < static_cast<int>(core_record::window)) {
    record.first = first;
    for (const int each : processors) {
      const auto bit = static_cast<std::size_t>(each - first);
      record.mask[bit / mask_word_bits] |= static_cast<std::uint16_t>(1U << bit % mask_word_bits);
    }
    return;
  }
  for (const range& each : ranges) {
    if (record.ranges == core_record::most_ranges) break;
    const std::size_t at = std::size_t{2} * record.ranges++;
    record.mask[at] = each.first;
    record.mask[at + 1] = each.last;
  }
}

std::vector<int> unpack_mask(const core_record& record) {
  std::vector<int> processors;
  if (record.ranges == 0) {
    for (std::size_t bit = 0; bit < core_record::window; ++bit) {
      if ((record.mask[bit / mask_word_bits] >> bit % mask_word_bits & 1U) == 0) continue;
      processors.push_back(record.first + static_cast<int>(bit));
    }
    return processors;
  }
  const std::size_t ranges = std::min<std::size_t>(record.ranges, core_record::most_ranges);
  for (std::size_t i = 0; i < ranges; ++i) {
    const int last = record.mask[2 * i + 1];
    for (int each = record.mask[2 * i]; each <= last; ++each) {
      processors.push_back(each);
    }
  }
  return processors;
}

}  // namespace

core_record pack_cores(const base::place_cores& cores) {
  core_record record;
  record.hardware = cores.hardware;
  record.workers = static_cast<std::uint16_t>(cores.workers);
  record.binds = cores.binds ? 1 : 0;
  const std::size_t limits = std::min(cores.limits.size(), core_record::most_limits);
  for (std::size_t i = 0; i < limits; ++i) {
    record.limits[i] = {.cgroup = cores.limits[i].cgroup,
                        .millicores = std::max(cores.limits[i].millicores, 1U)};
  }
  pack_mask(cores.processors, record);
  return record;
}

base::place_cores unpack_cores(const core_record& record) {
  base::place_cores cores{.processors = unpack_mask(record),
                          .limits = {},
                          .workers = record.workers,
                          .binds = record.binds != 0,
                          .hardware = record.hardware};
  for (const core_record::limit& each : record.limits) {
    if (each.millicores == 0) continue;
    cores.limits.push_back({.cgroup = each.cgroup, .millicores = each.millicores});
  }
  return cores;
}

}  // namespace apgas::inline v0::comm
