// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the parts of the mpi transport share: the communicators, tags, and what a failed call does.

#include <cstddef>
#include <string>
#include <vector>

#include <mpi.h>

#include <apgas/comm/rank.hpp>

namespace apgas::inline v0::comm {

// Two duplicates of MPI_COMM_WORLD: messages are matched against receives that are always posted
// there; long ones travel on the other, where each has a receive of its own, and collectives too.
struct mpi_channels {
  MPI_Comm messages = MPI_COMM_NULL;
  MPI_Comm bulk = MPI_COMM_NULL;
  rank here = 0;
  int size = 0;
};

// On `messages`.
inline constexpr int tag_message = 0;
inline constexpr int tag_announcement = 1;  // 8 bytes: a message of so many bytes comes on `bulk`
// On `bulk`.
inline constexpr int tag_bulk = 0;

// The size of the receives on `messages`: longer messages are announced.
inline constexpr std::size_t posted_bytes = std::size_t{16} << 10;

// The hosts of the ranks, once they have told each other; before it is null. Context: set before
// any message.
void set_hosts_of_ranks(std::vector<std::string> hosts);
const char* host_of_rank(rank r) noexcept;

[[noreturn]] void mpi_failed(int error, const char* call, rank other);

// Ends the job when an MPI call failed; `other` is the rank it concerned, or -1.
inline void mpi_check(int error, const char* call, rank other = -1) {
  if (error != MPI_SUCCESS) mpi_failed(error, call, other);
}

std::string mpi_error_text(int error);

}  // namespace apgas::inline v0::comm
