// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

// A directed graph whose nodes are suspended tasks and the objects that they wait for, and the
// search for a cycle in it. An edge leads from a task to the object that it waits for, and from an
// object to each task that it needs. All edges of a node are needed, so a cycle is a deadlock.
namespace apgas::inline v0::scheduler {

class wait_graph {
 public:
  using node = std::uint32_t;

  struct edge {
    node from;
    node to;
    std::uint32_t label;  // for the caller
    bool operator==(const edge&) const = default;
  };

  // The nodes are the numbers below `count`. Throws: std::bad_alloc.
  void set_nodes(std::uint32_t count) { nodes_ = count; }
  // Requires, when a cycle is searched: both ends are nodes. Throws: std::bad_alloc.
  void add(const edge& e) { edges_.push_back(e); }
  const std::vector<edge>& edges() const noexcept { return edges_; }

  // Returns the edges of a cycle, each of which begins where the one before it ends; empty if there
  // is none. Throws: std::bad_alloc. Cost: linear in the numbers of nodes and edges.
  std::vector<edge> find_cycle() const;

 private:
  std::uint32_t nodes_ = 0;
  std::vector<edge> edges_;
};

}  // namespace apgas::inline v0::scheduler
