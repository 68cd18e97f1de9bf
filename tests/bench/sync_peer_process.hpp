// SPDX-License-Identifier: Apache-2.0
#pragma once

// The peers of sync_bench run in processes of their own, one for each sample. Some of them have
// state that exists once in a process: the threads of OpenMP and their way of waiting, the
// schedulers of Boost.Fiber, a Java machine. In addition, no thread of a peer is left when the next
// variant runs. Starting the process is not measured. The programs are sync_peers and
// SyncPeer.java.

#include <string>
#include <vector>

#include "harness.hpp"
#include "lock_step.hpp"

namespace bench {

enum class peer_work { barrier, reduction, growing, spawning };

// Adds every peer that is available, can do this work and supports the number of members. For
// `spawning` the phases of the plan are rounds; for `growing` they are repetitions.
void add_peer_processes(benchmark& to, peer_work work, const plan& p);

// A line for each peer that is left out, with what to install. launch/benchmark says the same of
// those that CMake has not found (tests/bench/report/groups.py).
std::vector<std::string> missing_peers();

}  // namespace bench
