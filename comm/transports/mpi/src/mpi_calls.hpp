// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the sender and the receiver of the mpi wire share: communicators, tags, and the reaction to
// failed calls.

#include <cstddef>
#include <string>
#include <vector>

#include <mpi.h>

#include <apgas/comm/rank.hpp>

namespace apgas::inline v0::comm {

// Two duplicates of MPI_COMM_WORLD. On `messages`, receives are always posted. Long messages, each
// with a receive of its own, and collectives use `bulk`.
struct mpi_channels {
  MPI_Comm messages = MPI_COMM_NULL;
  MPI_Comm bulk = MPI_COMM_NULL;
  rank here = 0;
  int size = 0;
};

// Tags on `messages`.
inline constexpr int tag_message = 0;
inline constexpr int tag_announcement = 1;  // 8 bytes: the size of a message that follows on `bulk`
// The tag of messages on `bulk`.
inline constexpr int tag_bulk = 0;

// The size of the posted receives. Longer messages are announced.
inline constexpr std::size_t posted_bytes = std::size_t{16} << 10;

// The host names of all ranks. host_of_rank() returns null until they have been set.
// Context: set_hosts_of_ranks before any message.
void set_hosts_of_ranks(std::vector<std::string> hosts);
const char* host_of_rank(rank r) noexcept;

[[noreturn]] void mpi_failed(int error, const char* call, rank other);

// Ends the job if an MPI call has failed. `other` is the rank that the call concerned, or -1.
inline void mpi_check(int error, const char* call, rank other = -1) {
  if (error != MPI_SUCCESS) mpi_failed(error, call, other);
}

std::string mpi_error_text(int error);

}  // namespace apgas::inline v0::comm
