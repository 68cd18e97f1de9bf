// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include <apgas/comm/archive.hpp>

#include "finish_details.hpp"

namespace apgas::inline v0::sync {

// Writes the exceptions and the offered values of a place to its return message. Context: task.
void save_results(comm::out_archive& to, finish_details& details);
// Adds the results of other places, one after the other in `from`, to those of the home place.
// Throws: serialization_error. Context: task.
void load_results(std::span<const std::byte> from, finish_details& details);

}  // namespace apgas::inline v0::sync
