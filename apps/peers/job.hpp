// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the plain MPI programs share: start, end, and the last line of output, which is that of the
// apps.

#include <string>

#include <mpi.h>

#include "support/memory.hpp"
#include "support/report.hpp"

namespace peers {

class job {
 public:
  job(int& argc, char**& argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~job() { MPI_Finalize(); }
  job(const job&) = delete;
  job& operator=(const job&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

  // The ranks of the job, and those that share the host of rank 0; the same at all ranks.
  [[nodiscard]] apps::placement placement() const {
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host);
    int on_host = 1;
    MPI_Comm_size(host, &on_host);
    MPI_Comm_free(&host);
    MPI_Bcast(&on_host, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return {size_, on_host};
  }

  // Called by all ranks, with the seconds and the figures of rank 0, and whether each rank found
  // its own portion right. Returns the exit code, the same at all ranks.
  [[nodiscard]] int report(const std::string& app, double seconds, bool verified,
                           const apps::figures& own) const {
    int right = verified ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    int code = 0;
    if (rank_ == 0) code = apps::report(app, {size_, 1}, seconds, right == 1, own);
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return code;
  }

 private:
  int rank_ = 0;
  int size_ = 1;
};

// The time that all ranks take together, from construction on; each rank gets the same value.
class common_time {
 public:
  common_time() {
    MPI_Barrier(MPI_COMM_WORLD);
    start_ = MPI_Wtime();
  }
  [[nodiscard]] double seconds() const {
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - start_;
  }

 private:
  double start_;
};

}  // namespace peers
