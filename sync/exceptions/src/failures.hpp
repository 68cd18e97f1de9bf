// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <typeinfo>
#include <vector>

#include <apgas/exceptions.hpp>
#include <apgas/scheduler/fiber.hpp>

// How an exception that left a task gets into the list of its finish.
namespace apgas::inline v0::sync {

// Appends the exception that is being handled. If it is a multiple_exceptions, appends its elements
// instead. Context: a catch block.
void collect_current(std::vector<task_exception>& into, int place_id, const spawn_site& site);

// Returns the name of a type as users write it.
std::string readable_type(const std::type_info& type);

// Returns where the task was spawned, with its name.
spawn_site site_of(const scheduler::task_state& task);

// Returns the number of the place at which the task runs. Context: task.
int place_id_of(const scheduler::fiber& self) noexcept;

}  // namespace apgas::inline v0::sync
