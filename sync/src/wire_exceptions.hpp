// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <apgas/comm/archive.hpp>
#include <apgas/exceptions.hpp>

// Exceptions on their way between places: by type name and message.
namespace apgas::inline v0::sync {

struct finish_details;

void save_exceptions(comm::out_archive& to, const std::vector<task_exception>& exceptions);
void load_exceptions(comm::in_archive& from, std::vector<task_exception>& into);

// What a place adds to its return message, and home to its own: there may be those of several
// places, one behind the other. Context of the second: task.
void save_results(comm::out_archive& to, finish_details& details);
void load_results(std::span<const std::byte> from, finish_details& details);

}  // namespace apgas::inline v0::sync
