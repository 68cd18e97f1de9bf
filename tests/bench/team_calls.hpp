// SPDX-License-Identifier: Apache-2.0
#pragma once

// What team_bench measures: one collective, repeated at all places.

#include <cstddef>
#include <string>

#include "harness.hpp"

namespace bench {

enum class team_call { barrier, broadcast, reduce, allreduce, scatter, gather, alltoall };

struct team_work {
  std::string name;
  team_call call;
  std::size_t bytes;  // of each member; for scatter and alltoall, to each member
  int rounds;
};

// Returns the seconds from the first barrier to the end of the last round, at place 0. Context:
// task.
sample team_rounds(const team_work& work);
// The same by MPI. Called by the main threads of all processes; `correct` is valid at the first.
sample mpi_rounds(const team_work& work);

}  // namespace bench
