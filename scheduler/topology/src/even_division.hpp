// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides how many processors each place gets if places share some of their processors. The most
// even division is an optimal semi-matching (Harvey, Ladner, Lovasz and Tamir, WADS 2003).
// Processors are first handed out greedily. Then processors move along paths, from a place to one
// that has at least two fewer, as long as there is such a path.

#include <cstddef>
#include <limits>
#include <vector>

namespace apgas::inline v0::scheduler {

// Converts an index for a container.
inline std::size_t at(int index) { return static_cast<std::size_t>(index); }

inline constexpr int unlimited = std::numeric_limits<int>::max();

// Processors that the same places have in their masks.
struct pool {
  std::vector<int> processors;  // indices, in the order of the hardware
  std::vector<int> places;      // indices, ascending
  std::vector<int> given;       // the number that each of these places gets
  int left = 0;                 // the number that has not been handed out yet
};

class even_division {
 public:
  // `wanted` is the number of processors that each place can use. A place gets more of them only if
  // no other place of the pool wants them.
  // Requires: no processor has been handed out yet.
  even_division(std::vector<pool> pools, std::vector<int> wanted);

  // The pools after all their processors have been handed out.
  const std::vector<pool>& pools() const { return pools_; }

 private:
  // The step of a search that reached a place: from the place `from`, by a processor of `pool`.
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
