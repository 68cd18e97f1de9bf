// SPDX-License-Identifier: Apache-2.0
#pragma once

// The peer of place_bench: plain MPI messages between the processes of the same job, sent by the
// main threads while no apgas::run is active. The program initialises MPI itself, before apgas
// does.

#include <cstddef>

namespace bench {

class raw_mpi {
 public:
  // Initialises MPI, unless the places are in one process or the build has no MPI.
  raw_mpi(int argc, char** argv);
  ~raw_mpi();
  raw_mpi(const raw_mpi&) = delete;
  raw_mpi& operator=(const raw_mpi&) = delete;

  [[nodiscard]] bool there() const { return processes_ > 0; }
  [[nodiscard]] int processes() const { return processes_; }  // of the job; 0 without MPI
  [[nodiscard]] bool first() const { return rank_ == 0; }
  // Whether this is one of the first two processes, between which messages are measured. False in a
  // job of one process.
  [[nodiscard]] bool measures() const { return processes_ > 1 && rank_ < 2; }

  // Seconds for `rounds` round trips of `bytes` bytes with MPI_Send and MPI_Recv between the first
  // two processes, which both call it.
  double ping_pong(std::size_t bytes, int rounds) const;
  // Returns when all processes have called it. Those that wait sleep, so that they take no core
  // from processes that measure. Does nothing without MPI.
  void sleep_until_all_call() const;

 private:
  int processes_ = 0;
  int rank_ = 0;
};

}  // namespace bench
