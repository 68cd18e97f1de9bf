// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <apgas/scheduler/wait_edges.hpp>

#include "joined_graph.hpp"

// Makes the list of edges from the graph that is searched for a cycle.
namespace apgas::inline v0::scheduler {

// Lists at most `most` edges of each construct. Throws: std::bad_alloc. Cost: n log n, where n is
// the number of entries of the graph and of all edges, also of those that are left out. If tasks of
// k lines wait for one object, each line has an edge to every task that the object needs.
wait_edges edges_of(const joined_graph& graph, bool with_places, std::size_t most);

}  // namespace apgas::inline v0::scheduler
