// SPDX-License-Identifier: Apache-2.0
#pragma once

// What every construct does with its members, whether they are tasks or threads: a few checked
// rounds, the timed rounds, and checked rounds again. In a checked round a member marks its own
// cell before the barrier, and looks at its neighbour's cell after it. A member that passed too
// early sees that its neighbour has not arrived.

#include <atomic>
#include <cstddef>
#include <vector>

#include "epcc/delay.hpp"
#include "support/phaser_tree.hpp"
#include "support/stopwatch.hpp"

namespace epcc {

struct plan {
  int members;
  int rounds;
  const delay& work;
  apps::phaser_tree tree;
};

struct sample {
  double seconds;
  bool correct;
};

class checked_rounds {
 public:
  explicit checked_rounds(const plan& p) : plan_(p), cells_(static_cast<std::size_t>(p.members)) {}

  // What member `self` does. step() is one round: the delay, and the construct. It returns whether
  // its result was right.
  template <class Step>
  void run(int self, Step step) {
    bool right = true;
    for (int i = 0; i < checked; ++i) right = mark_and_look(self, i, step) && right;
    const apps::stopwatch watch;
    for (int i = 0; i < plan_.rounds; ++i) right = step() && right;
    const double seconds = watch.seconds();
    for (int i = 0; i < checked; ++i) right = mark_and_look(self, checked + i, step) && right;
    if (self == 0) seconds_ = seconds;
    if (!right) correct_.store(false, std::memory_order_relaxed);
  }

  // Rounds of each member, with the checked ones.
  [[nodiscard]] int rounds() const { return plan_.rounds + 2 * checked; }
  // Requires: all members have ended.
  [[nodiscard]] sample result() const {
    return {seconds_, correct_.load(std::memory_order_relaxed)};
  }

 private:
  static constexpr int checked = 2;
  struct alignas(64) cell {
    std::atomic<int> round = -1;
  };

  template <class Step>
  bool mark_and_look(int self, int round, Step& step) {
    cells_[static_cast<std::size_t>(self)].round.store(round, std::memory_order_relaxed);
    const bool right = step();
    const int next = self + 1 == plan_.members ? 0 : self + 1;
    const int seen = cells_[static_cast<std::size_t>(next)].round.load(std::memory_order_relaxed);
    return right && (seen == round || seen == round + 1);
  }

  const plan& plan_;
  std::vector<cell> cells_;
  double seconds_ = 0;
  std::atomic<bool> correct_ = true;
};

}  // namespace epcc
