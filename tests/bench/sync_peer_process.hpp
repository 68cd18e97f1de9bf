// SPDX-License-Identifier: Apache-2.0
#pragma once

// The peers of sync_bench run in processes of their own, one for each sample: some have state of
// which a process has only one (the threads of OpenMP and how they wait, the schedulers of
// Boost.Fiber, a Java machine), and no thread of theirs is left when the next variant's turn comes.
// Starting the process is not measured. The programs are sync_peers and SyncPeer.java.

#include <string>
#include <vector>

#include "harness.hpp"
#include "lock_step.hpp"

namespace bench {

enum class peer_work { barrier, reduction, growing, spawning };

// Adds every peer that is there, can do this work and takes so many members. For `spawning` the
// phases of the plan are rounds, for `growing` repeats.
void add_peer_processes(benchmark& to, peer_work work, const plan& p);

// A line for each peer that is not there, or was not measured here.
std::vector<std::string> missing_peers();

}  // namespace bench
