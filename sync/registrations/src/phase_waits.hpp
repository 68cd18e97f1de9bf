// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/sync/registration.hpp>

// How a wait for a phase is reported.
namespace apgas::inline v0::sync {

// The record of a task that waits by the registration r, where r.where says.
scheduler::wait_record record_of(const registration& r) noexcept;

}  // namespace apgas::inline v0::sync
