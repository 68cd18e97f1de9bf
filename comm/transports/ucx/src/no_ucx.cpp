// SPDX-License-Identifier: Apache-2.0

// Replaces the ucx wire in a build without UCX.

#include <apgas/comm/transports.hpp>

#include "mpi_calls.hpp"
#include "wire.hpp"

namespace apgas::inline v0::comm {

bool ucx_available() noexcept { return false; }

std::unique_ptr<wire> open_ucx_wire(const mpi_channels&, buffer_pool&, std::string& why_not) {
  why_not = "this library was built without UCX (-DAPGAS_WITH_UCX=ON)";
  return nullptr;
}

}  // namespace apgas::inline v0::comm
