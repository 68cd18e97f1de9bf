// SPDX-License-Identifier: Apache-2.0
#pragma once

// Creates the transports. Called by module launch when a process becomes a place, and by tests.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <apgas/base/choices.hpp>
#include <apgas/base/settings.hpp>
#include <apgas/comm/transport.hpp>

namespace apgas::inline v0::comm {

// Several ranks in one process, each with its own transport. A message is delivered by passing a
// pointer, when the receiver takes it. A job with a single place uses local_fabric(1) to talk to
// itself.
class local_fabric {
 public:
  // `abort` is called to end the process; nullptr: std::_Exit(code).
  using abort_function = void (*)(int code);
  // If `order` is given, it decides which of the messages of different senders a receiver gets
  // next; otherwise they arrive in the order in which they were sent. It must outlive the object.
  explicit local_fabric(int size, abort_function abort = nullptr,
                        base::choice_source* order = nullptr);
  // Requires: all buffers have been returned.
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

// Options of the failure detector. The values of place 0 hold for all places.
struct failure_detector_options {
  // The heartbeat timeout: a place that has sent no heartbeat for this time is considered failed.
  // 0: missing heartbeats are no failure.
  std::chrono::milliseconds silence = std::chrono::seconds{10};
  std::string
      interface;  // address at which place 0 accepts other hosts; empty: chosen automatically
};

// Returns the mpi transport of the process. The first call starts MPI with MPI_THREAD_SERIALIZED,
// or uses the MPI that the user has initialised, on duplicated communicators; it is collective and
// blocks. Later calls return the same object.
//
// From then on a failure detector runs until MPI ends: the failure of a place ends the job with one
// line. MPI is finalized when the process exits, unless the user initialised it. A process that
// exits while a run is active ends the job.
//
// Throws: launch_error if this build has no MPI, if places cannot connect to each other, if MPI has
// already been finalized, or if the user's thread level is below MPI_THREAD_SERIALIZED.
// Context: the main thread.
transport& make_mpi_transport(const failure_detector_options& options = {});

// The transport that the ranks of a job use, and the reason for the choice: "default",
// "APGAS_TRANSPORT", or why UCX could not be used.
struct chosen_transport {
  transport* network;  // a transport of the process
  std::string why;
};

// Chooses the transport of a job collectively. The ranks exchange their settings and capabilities,
// and all choose the same transport: ucx if every rank can use it, unless the setting is mpi;
// otherwise mpi. If the setting is auto or shm, ranks of one host that can share memory use that
// instead. Starts MPI like make_mpi_transport(). Processes whose setting is local continue
// independently.
// Throws: as make_mpi_transport(); launch_error at all ranks if their settings differ, or if they
// ask for ucx and a rank cannot use it, or for shm and ranks of one host cannot share memory. The
// message names ranks, hosts and reasons.
// Context: the main thread; collective, once per run; blocks.
chosen_transport choose_transport(base::transport_choice wanted,
                                  const failure_detector_options& options = {});

// For tests: if APGAS_TEST_DELAY is set, returns a transport around `network`, which must outlive
// it, that delays messages by random times of up to that many microseconds; otherwise null. The
// seed is that of place 0 (APGAS_TEST_DELAY_SEED).
// Throws: launch_error if a value is not a number in its range.
// Context: collective; blocks.
std::unique_ptr<transport> delayed_for_tests(transport& network);

// For tests: if APGAS_TEST_RINGS is set, returns a transport over `network`, which must outlive it,
// that uses shared memory between the ranks of a host, here also those of one process; otherwise
// null.
// Context: collective; blocks.
std::unique_ptr<transport> rings_for_tests(transport& network);

// Whether MPI has been initialised, by the library or by the user, and not been finalized.
bool mpi_running() noexcept;

// The launcher that started this process, according to its environment variables.
struct launch_environment {
  std::string launcher;  // "Open MPI", "PMIx", "PMI", "Slurm"
  int size = 0;          // processes of the job; 0 if the launcher does not say
};
std::optional<launch_environment> find_launcher() noexcept;
inline bool launched_by_mpi() noexcept { return find_launcher().has_value(); }

// Ends the job after the reason has been printed: through the transports if there are any,
// otherwise only this process, whose launcher ends the others.
[[noreturn]] void end_job(int code) noexcept;

}  // namespace apgas::inline v0::comm
