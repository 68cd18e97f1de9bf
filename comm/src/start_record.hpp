// SPDX-License-Identifier: Apache-2.0
#pragma once

// What ranks tell each other before a run, and whether they agree.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <apgas/comm/lent_memory.hpp>

#include "core_record.hpp"

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
  lender memory;
  core_record cores;
  char settings[384] = {};
};
static_assert(sizeof(start_record) == 1024 && std::is_trivially_copyable_v<start_record>);

// This process's, but for the epoch, the memory and the cores. Throws: std::invalid_argument if the
// settings' text does not fit.
start_record make_start_record(std::uint32_t version, std::uint64_t fingerprint,
                               const std::string& settings);

// By rank. Throws: launch_error when a record differs from rank 0's in anything but the host, the
// memory and the cores; it names the ranks, the hosts and the values.
std::vector<start_record> compare_start_records(std::span<const std::byte> all);

std::string host_of(const start_record& record);

}  // namespace apgas::inline v0::comm
