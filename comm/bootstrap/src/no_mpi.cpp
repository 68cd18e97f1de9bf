// SPDX-License-Identifier: Apache-2.0

// Replaces the mpi and ucx transports in a build without MPI.

#include <cstdlib>

#include <apgas/base/exit_reason.hpp>
#include <apgas/comm/transports.hpp>
#include <apgas/errors.hpp>

namespace apgas::inline v0::comm {

bool mpi_available() noexcept { return false; }

bool ucx_available() noexcept { return false; }

bool mpi_running() noexcept { return false; }

transport& make_mpi_transport(const failure_detector_options&) {
  throw launch_error(
      "the mpi transport was asked for, but this library was built without MPI: build it with "
      "-DAPGAS_WITH_MPI=ON, or use APGAS_TRANSPORT=local");
}

void end_job(int code) noexcept {
  base::run_end_actions();
  std::_Exit(code);
}

chosen_transport choose_transport(base::transport_choice, const failure_detector_options&) {
  return {&make_mpi_transport(), {}};
}

}  // namespace apgas::inline v0::comm
