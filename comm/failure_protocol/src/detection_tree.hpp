// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tree along which places monitor each other. It has two levels. The lowest place of a host is
// its leader. Each leader and the other places of its host monitor each other, and so do place 0
// and the leaders of the other hosts.

#include <string>
#include <vector>

#include <apgas/comm/rank.hpp>

namespace apgas::inline v0::comm {

class detection_tree {
 public:
  // Takes the host of every place. `names` are the host names for messages. Two places are on the
  // same host if their `keys` are equal.
  detection_tree(std::vector<std::string> names, const std::vector<std::string>& keys);

  int size() const noexcept { return static_cast<int>(leaders_.size()); }
  rank leader_of(rank place) const noexcept { return leaders_[static_cast<std::size_t>(place)]; }
  bool is_leader(rank place) const noexcept { return leader_of(place) == place; }
  bool same_host(rank a, rank b) const noexcept { return leader_of(a) == leader_of(b); }
  bool one_host() const noexcept;

  // The place that `place` connects to, or -1 for place 0.
  rank parent(rank place) const noexcept;
  // The places that connect to `place`, ascending.
  std::vector<rank> children(rank place) const;
  // All places on the host of `place`, including itself, ascending.
  std::vector<rank> members_of_host(rank place) const;

  const std::string& host(rank place) const noexcept {
    return names_[static_cast<std::size_t>(place)];
  }
  // "place 3 on b".
  std::string name(rank place) const;
  // "place 3 on b", "places 4-7 on b", "places 2-3 on b and 4-5 on c". `places` must be ascending.
  std::string names(const std::vector<rank>& places) const;

 private:
  std::vector<std::string> names_;
  std::vector<rank> leaders_;
};

}  // namespace apgas::inline v0::comm
