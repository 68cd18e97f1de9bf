// SPDX-License-Identifier: Apache-2.0
#pragma once

// The records that ranks exchange before a run, and their comparison.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <apgas/comm/zero_copy.hpp>

#include "core_record.hpp"

namespace apgas::inline v0::comm {

// The record of one rank.
// Wire: exchanged at start-up. The layout of its first fields is the same in all versions, so that
// different versions can detect each other.
struct start_record {
  char magic[8] = {'a', 'p', 'g', 'a', 's', 0, 0, 0};
  std::uint32_t bytes = 0;  // the size of a record in that version
  std::uint32_t version = 0;
  std::uint64_t fingerprint = 0;
  std::uint64_t epoch = 0;
  char host[256] = {};
  cma_process memory;
  core_record cores;
  char settings[384] = {};
};
static_assert(sizeof(start_record) == 1024 && std::is_trivially_copyable_v<start_record>);

// The record of this process, without the host, the epoch, the memory and the cores.
// Throws: std::invalid_argument if the text of the settings does not fit.
start_record make_start_record(std::uint32_t version, std::uint64_t fingerprint,
                               const std::string& settings);

// Splits the records of all ranks and compares them.
// Throws: launch_error if a record differs from that of rank 0 in anything but the host, the memory
// and the cores. It names the ranks, the hosts and the values.
std::vector<start_record> compare_start_records(std::span<const std::byte> all);

std::string host_of(const start_record& record);

}  // namespace apgas::inline v0::comm
