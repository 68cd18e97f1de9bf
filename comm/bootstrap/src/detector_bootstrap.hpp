// SPDX-License-Identifier: Apache-2.0
#pragma once

// Starts the failure detector of a job that MPI started.

#include <memory>

#include <apgas/comm/transports.hpp>

#include "failure_detector.hpp"
#include "mpi_calls.hpp"

namespace apgas::inline v0::comm {

// Returns the failure detector of this process, or null in a job of one process. `end` is called to
// end the job. Collective.
// Throws: launch_error at all ranks if they cannot connect to each other.
std::unique_ptr<failure_detector> start_failure_detector(const mpi_channels& channels,
                                                         const failure_detector_options& options,
                                                         failure_detector::end_function end);

}  // namespace apgas::inline v0::comm
