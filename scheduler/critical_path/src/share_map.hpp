// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

// How much of a path lies at each site: numbers of ticks by small keys. Copies share their nodes,
// so a copy costs a reference count. An addition copies the nodes on the way to its key and leaves
// all others shared; with n sites it costs O(log n). A program may have as many sites as it has
// names of tasks, and a path of each of many tasks may go through all of them.
//
// The map is a tree whose leaves hold the ticks of eight keys, and whose other nodes have eight
// nodes below them. Context: the caller serialises calls that involve the same object.
namespace apgas::inline v0::scheduler {

class share_map {
 public:
  struct entry {
    std::uint64_t key = 0;
    std::uint64_t ticks = 0;
  };

  // Throws: std::bad_alloc.
  void add(std::uint64_t key, std::uint64_t ticks);
  // All keys to which something was added, in their order. Throws: std::bad_alloc.
  std::vector<entry> entries() const;

 private:
  struct leaf;
  struct inner;
  using link = std::shared_ptr<const void>;  // to a leaf at level 0, else to an inner node

  static link with_added(const link& at, unsigned level, std::uint64_t key, std::uint64_t ticks);
  static void collect(const link& at, unsigned level, std::uint64_t first_key,
                      std::vector<entry>& to);

  link root_;
  unsigned level_ = 0;  // of the root
};

}  // namespace apgas::inline v0::scheduler
