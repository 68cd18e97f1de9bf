// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <typeinfo>
#include <vector>

#include <apgas/exceptions.hpp>
#include <apgas/scheduler/fiber.hpp>

// From the exception being handled to the list of a finish.
namespace apgas::inline v0::sync {

// Adds the exception that is being handled, or the parts of a multiple_exceptions.
// Context: a catch block.
void collect_current(std::vector<task_exception>& into, int place_id, const spawn_site& site);

// A type's name as the user wrote it.
std::string readable_type(const std::type_info& type);

spawn_site site_of(const scheduler::task_state& task);

// The place of the running task; 0 outside of places.
int place_id_of(const scheduler::fiber& self) noexcept;

}  // namespace apgas::inline v0::sync
