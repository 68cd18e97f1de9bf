// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include <fmt/format.h>

#include "failure_detector.hpp"
#include "mpi_calls.hpp"

namespace apgas::inline v0::comm {

std::string mpi_error_text(int error) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(error, text, &length) != MPI_SUCCESS) return fmt::format("error {}", error);
  return {text, static_cast<std::size_t>(length)};
}

namespace {

// Like MPI itself, one for the process.
std::vector<std::string>& hosts_of_ranks() {
  static auto& hosts = *new std::vector<std::string>;  // used until the process ends
  return hosts;
}

}  // namespace

void set_hosts_of_ranks(std::vector<std::string> hosts) { hosts_of_ranks() = std::move(hosts); }

const char* host_of_rank(rank r) noexcept {
  const std::vector<std::string>& hosts = hosts_of_ranks();
  const auto index = static_cast<std::size_t>(r);
  return index < hosts.size() ? hosts[index].c_str() : nullptr;
}

void mpi_failed(int error, const char* call, rank other) {
  call_failed(call, other, mpi_error_text(error));
}

}  // namespace apgas::inline v0::comm
