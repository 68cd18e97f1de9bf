// SPDX-License-Identifier: Apache-2.0
#pragma once

// Starts the watch of a job that MPI started.

#include <memory>

#include <apgas/comm/transports.hpp>

#include "mpi_calls.hpp"
#include "failure_detector.hpp"

namespace apgas::inline v0::comm {

// Collective. Null for a job of one process. Throws, at all ranks alike: launch_error when they
// cannot reach each other.
std::unique_ptr<failure_detector> start_failure_detector(const mpi_channels& channels, const failure_detector_options& options,
                                   failure_detector::end_function end);

}  // namespace apgas::inline v0::comm
