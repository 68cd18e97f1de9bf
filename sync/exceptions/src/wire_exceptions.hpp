// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <apgas/comm/archive.hpp>
#include <apgas/exceptions.hpp>

// Exceptions on their way between places: by type name and message.
namespace apgas::inline v0::sync {

void save_exceptions(comm::out_archive& to, const std::vector<task_exception>& exceptions);
void load_exceptions(comm::in_archive& from, std::vector<task_exception>& into);

}  // namespace apgas::inline v0::sync
