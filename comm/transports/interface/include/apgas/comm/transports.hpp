// SPDX-License-Identifier: Apache-2.0
#pragma once

// The transports there are. Called by launch when a process becomes a place, and by tests.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <apgas/base/settings.hpp>
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

// How the places of a job watch each other; place 0's holds for all.
struct failure_detector_options {
  // A place that gives no sign of life for so long is gone; 0: silence is no failure.
  std::chrono::milliseconds silence = std::chrono::seconds{10};
  std::string interface;  // where place 0 listens to other hosts; empty: chosen
};

// The one mpi transport of the process. The first call starts MPI (SERIALIZED), or uses the one the
// user has initialised, on duplicated communicators; it is collective and blocks. Later calls give
// the same object. The places then watch each other until MPI ends: a place that is gone ends the
// job with one line. MPI ends when the process exits, unless the user began it; a process that
// exits while a run is active ends the job. Throws: launch_error without MPI in this build, when
// places cannot reach each other, when MPI is already finalized, or when the user's thread level is
// below MPI_THREAD_SERIALIZED. Context: the main thread.
transport& make_mpi_transport(const failure_detector_options& options = {});

// What the ranks of a job that MPI started talk by, and why: "default", "APGAS_TRANSPORT", or why
// it is not UCX.
struct chosen_transport {
  transport* network;  // mpi or ucx, each of which there is one of in the process
  std::string why;
};

// All ranks tell each other what they want and what they can, and choose the same: ucx where it can
// be used at all of them, unless they want mpi. MPI starts as with make_mpi_transport. Processes
// that all want local go on without each other. Throws: as make_mpi_transport; launch_error, at all
// ranks, when they want different ones, or ucx where it cannot be used: it names ranks, hosts and
// reasons. Context: the main thread; collective, once for each run; blocks.
chosen_transport choose_transport(base::transport_choice wanted, const failure_detector_options& options = {});

// For tests: where APGAS_TEST_DELAY is set, a transport around that one, which must outlive it; it
// delays messages by random times up to so many microseconds. Else null. Place 0 tells the seed,
// APGAS_TEST_DELAY_SEED. Collective; blocks. Throws: launch_error for values that are no numbers.
std::unique_ptr<transport> delayed_for_tests(transport& network);

// Whether MPI is initialised (by anyone) and not finalized.
bool mpi_running() noexcept;

// The launcher of this process, read from the environment alone.
struct launch_environment {
  std::string launcher;  // "Open MPI", "PMIx", "PMI", "Slurm"
  int size = 0;          // processes of the job; 0 where the launcher does not say
};
std::optional<launch_environment> find_launcher() noexcept;
inline bool launched_by_mpi() noexcept { return find_launcher().has_value(); }

// Ends the job, once this place has said why: through the transports if there are any, else only
// this process, whose launcher ends the others.
[[noreturn]] void end_job(int code) noexcept;

}  // namespace apgas::inline v0::comm
