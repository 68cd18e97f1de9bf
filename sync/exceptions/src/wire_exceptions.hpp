// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <apgas/comm/archive.hpp>
#include <apgas/exceptions.hpp>

// Exceptions on their way between places. They travel as the name of their type and their text.
namespace apgas::inline v0::sync {

// Writes the exceptions to the archive. Context: task, without a lock, since it copies and examines
// exceptions of the user.
void save_exceptions(comm::out_archive& to, const std::vector<task_exception>& exceptions);
// Constructs the exceptions of the archive again and appends them to `into`. A type that is not
// registered in this process becomes a remote_exception.
// Throws: serialization_error if the bytes are malformed. Context: task.
void load_exceptions(comm::in_archive& from, std::vector<task_exception>& into);

}  // namespace apgas::inline v0::sync
