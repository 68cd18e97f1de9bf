// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which places watch each other: a tree of two levels. The lowest place of a host is its leader;
// the others of the host and their leader watch each other, and so do place 0 and the leaders of
// other hosts.

#include <string>
#include <vector>

#include <apgas/comm/rank.hpp>

namespace apgas::inline v0::comm {

class detection_tree {
 public:
  // `names` are for people; places of the same host have the same key. Both by place.
  detection_tree(std::vector<std::string> names, const std::vector<std::string>& keys);

  int size() const noexcept { return static_cast<int>(leaders_.size()); }
  rank leader_of(rank place) const noexcept { return leaders_[static_cast<std::size_t>(place)]; }
  bool leads(rank place) const noexcept { return leader_of(place) == place; }
  bool same_host(rank a, rank b) const noexcept { return leader_of(a) == leader_of(b); }
  bool one_host() const noexcept;

  // Whom a place connects to; -1: to nobody, it is place 0.
  rank above(rank place) const noexcept;
  // Who connects to it, ascending.
  std::vector<rank> below(rank place) const;
  // All places of its host, ascending.
  std::vector<rank> neighbours(rank place) const;

  const std::string& host(rank place) const noexcept {
    return names_[static_cast<std::size_t>(place)];
  }
  // "place 3 on node2"
  std::string name(rank place) const;
  // "place 3 on node2", "places 4-7 on node2", "places 2-3 on node2 and 4-5 on node3"; ascending.
  std::string names(const std::vector<rank>& places) const;

 private:
  std::vector<std::string> names_;
  std::vector<rank> leaders_;
};

}  // namespace apgas::inline v0::comm
