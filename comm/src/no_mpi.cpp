// SPDX-License-Identifier: Apache-2.0

// Stands for the mpi and ucx transports in a build without MPI.

#include <apgas/comm/transports.hpp>
#include <apgas/errors.hpp>

namespace apgas::inline v0::comm {

bool mpi_available() noexcept { return false; }

bool ucx_available() noexcept { return false; }

bool mpi_running() noexcept { return false; }

transport& make_mpi_transport() {
  throw launch_error(
      "the mpi transport was asked for, but this library was built without MPI: build it with "
      "-DAPGAS_WITH_MPI=ON, or use APGAS_TRANSPORT=local");
}

transport* make_ucx_transport(std::string& why_not) {
  why_not = "this library was built without MPI, which starts it";
  return nullptr;
}

}  // namespace apgas::inline v0::comm
