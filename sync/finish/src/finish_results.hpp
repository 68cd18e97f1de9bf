// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include <apgas/comm/archive.hpp>

#include "finish_details.hpp"

namespace apgas::inline v0::sync {

// What a place adds to its return message, and home to its own: there may be those of several
// places, one behind the other. Context of the second: task.
void save_results(comm::out_archive& to, finish_details& details);
void load_results(std::span<const std::byte> from, finish_details& details);

}  // namespace apgas::inline v0::sync
