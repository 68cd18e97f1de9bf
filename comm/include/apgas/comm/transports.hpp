// SPDX-License-Identifier: Apache-2.0
#pragma once

// The transports there are. Called by launch when a process becomes a place, and by tests.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <apgas/comm/transport.hpp>

namespace apgas::inline v0::comm {

// Several ranks of one process, each with its own transport; messages move by pointer. Delivery is
// the receiver taking them. Also what a single place uses to talk to itself: local_fabric(1).
class local_fabric {
 public:
  // `abort` ends the process; nullptr: std::_Exit(code).
  using abort_function = void (*)(int code);
  explicit local_fabric(int size, abort_function abort = nullptr);
  // Requires: all blocks are back.
  ~local_fabric();

  int size() const noexcept;
  transport& at(rank place) noexcept;
  buffer_pool& pool() noexcept;

 private:
  struct shared;
  std::unique_ptr<shared> shared_;
};

// Whether the library was built with MPI, and with UCX.
bool mpi_available() noexcept;
bool ucx_available() noexcept;

// The one mpi transport of the process. The first call starts MPI (SERIALIZED), or uses the one the
// user has initialised, on duplicated communicators; it is collective and blocks. Later calls give
// the same object. MPI ends when the process exits, unless the user began it; a process that exits
// while a run is active ends the job.
// Throws: launch_error without MPI in this build, when MPI is already finalized, or when the user's
// thread level is below MPI_THREAD_SERIALIZED. Context: the main thread.
transport& make_mpi_transport();

// The one ucx transport of the process: MPI starts it and carries its addresses. As
// make_mpi_transport; null, at all ranks, where UCX cannot be used, and `why_not` says why.
transport* make_ucx_transport(std::string& why_not);

// Whether MPI is initialised (by anyone) and not finalized.
bool mpi_running() noexcept;

// The launcher of this process, read from the environment alone.
struct launch_environment {
  std::string launcher;  // "Open MPI", "PMIx", "PMI", "Slurm"
  int size = 0;          // processes of the job; 0 where the launcher does not say
};
std::optional<launch_environment> find_launcher() noexcept;
inline bool launched_by_mpi() noexcept { return find_launcher().has_value(); }

}  // namespace apgas::inline v0::comm
