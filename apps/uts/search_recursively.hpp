// SPDX-License-Identifier: Apache-2.0
#pragma once

// The recursive search: each child of a tree node is a task, which returns the counts of its
// subtree to the task of its parent. Here the counts return through a full/empty variable for each
// child, as in the program UTS-Rec of the paper "Chapel-on-X: exploring tasking runtimes for PGAS
// languages" (ESPM2 2017). The peers search in the same way, by tasks of OpenMP and by task groups
// of oneTBB.

#include <string>

#include "support/peer_thread.hpp"
#include "uts/search.hpp"

namespace uts {

// Uses the workers of this place. Context: a task; may suspend.
search_result search_by_sync_vars(const search_options& o);

// Searches by the peer that `name` names (support/peers.hpp). Requires: the program is built with
// it. Uses as many threads as this place has workers. Context: a task; blocks its worker.
search_result search_by_peer(const std::string& name, const search_options& o,
                             apps::peer_thread& thread);

}  // namespace uts
