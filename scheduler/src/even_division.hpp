// SPDX-License-Identifier: Apache-2.0
#pragma once

// How many processors each place gets, where places share some and not others. The most even
// division is an optimal semi-matching (Harvey, Ladner, Lovasz and Tamir, WADS 2003): first
// greedily, then along paths that move a processor from a place to one that has at least two less.

#include <limits>
#include <vector>

namespace apgas::inline v0::scheduler {

inline constexpr int unlimited = std::numeric_limits<int>::max();

// Processors that the same places have in their masks.
struct pool {
  std::vector<int> processors;  // indices, in the order of the hardware
  std::vector<int> places;      // indices, ascending
  std::vector<int> given;       // how many each of these places gets
  int left = 0;                 // how many have not been given yet
};

class even_division {
 public:
  // `wanted`: how many processors are of use to each place. More go to a place only where nobody
  // wants them. Requires: nothing is given yet.
  even_division(std::vector<pool> pools, std::vector<int> wanted);

  // With all processors given.
  const std::vector<pool>& pools() const { return pools_; }

 private:
  // How a search came to a place: by a processor of that pool, from that place.
  struct step {
    int pool = -1;
    int from = -1;
  };

  void hand_out(pool& from, const std::vector<int>& most);
  void even_out();
  bool improve();
  bool give_away(int giver);
  void move_along(const std::vector<step>& reached, int giver, int taker);
  int& given(int p, int place);

  std::vector<pool> pools_;
  std::vector<int> wanted_;
  std::vector<int> held_;                   // processors of each place
  std::vector<std::vector<int>> pools_of_;  // of each place, while even_out() runs
};

}  // namespace apgas::inline v0::scheduler
