// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <apgas/base/assert.hpp>

#include "mpi_calls.hpp"

namespace apgas::inline v0::comm {

std::string mpi_error_text(int error) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(error, text, &length) != MPI_SUCCESS) return fmt::format("error {}", error);
  return {text, static_cast<std::size_t>(length)};
}

void mpi_failed(int error, const char* call, rank other) {
  const std::string with = other < 0 ? "" : fmt::format(" with rank {}", other);
  base::fatal(fmt::format("{}{} failed: {}", call, with, mpi_error_text(error)));
}

}  // namespace apgas::inline v0::comm
