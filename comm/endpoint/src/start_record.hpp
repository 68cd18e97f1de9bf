// SPDX-License-Identifier: Apache-2.0
#pragma once

// What ranks tell each other before a run, and whether they agree.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <apgas/comm/zero_copy.hpp>

namespace apgas::inline v0::comm {

// Wire: the record of the start-up exchange. Its head keeps its layout in all versions, so that
// different versions can tell.
struct start_record {
  char magic[8] = {'a', 'p', 'g', 'a', 's', 0, 0, 0};
  std::uint32_t bytes = 0;  // of a record in that version
  std::uint32_t version = 0;
  std::uint64_t fingerprint = 0;
  std::uint64_t epoch = 0;
  char host[256] = {};
  cma_process memory;
  char settings[704] = {};
};
static_assert(sizeof(start_record) == 1024 && std::is_trivially_copyable_v<start_record>);

// This process's, but for the epoch and the memory. Throws: std::invalid_argument if the settings'
// text does not fit.
start_record make_start_record(std::uint32_t version, std::uint64_t fingerprint,
                               const std::string& settings);

// By rank. Throws: launch_error when a record differs from rank 0's in anything but the host and
// the memory; it names the ranks, the hosts and the values.
std::vector<start_record> compare_start_records(std::span<const std::byte> all);

std::string host_of(const start_record& record);

}  // namespace apgas::inline v0::comm
