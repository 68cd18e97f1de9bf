// SPDX-License-Identifier: Apache-2.0
#pragma once

// Members of a barrier that go through phases together, measured in the same way whether they are
// tasks of apgas, threads or fibers. A run consists of
//   two checked phases, in which every member gets its stack and starts;
//   two timed phases, which show how many more the budget allows;
//   the counted phases, timed by each member; there are fewer if the estimate was wrong;
//   a last checked phase.
// In a checked phase every member marks its cell before the barrier and checks its neighbour's cell
// after it. A member that passes the barrier too early sees that its neighbour has not arrived.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

#include "harness.hpp"

namespace bench {

struct plan {
  int members = 2;
  long phases = 100;       // the largest number of counted phases
  double budget = 1;       // in seconds, for the counted phases; if it is exceeded, there are fewer
  bool check_all = false;  // the counted phases are checked, too
};

// The contribution of a member to the reduction of a phase, and the result that every member must
// read.
inline long contribution(int member, long phase) { return member + phase; }
inline long reduction(int members, long phase) {
  const long n = members;
  return n * (n - 1) / 2 + n * phase;
}

class lock_step {
 public:
  explicit lock_step(const plan& p) : plan_(p), cells_(static_cast<std::size_t>(p.members)) {}

  // What one member does from start to end. step(phase) waits at the barrier, and returns false if
  // the member saw something wrong.
  template <class Step>
  void run(int member, Step step) {
    bool right = checked(member, 0, step);
    right = checked(member, 1, step) && right;
    const double first = now();
    right = step(2) && right;
    right = step(3) && right;
    if (member == 0) end_.store(first_counted + affordable((now() - first) / 2), relaxed);
    right = checked(member, 4, step) && right;
    const double begin = now();
    if (plan_.check_all) {
      right =
          counted(member, begin, [&](long phase) { return checked(member, phase, step); }) && right;
    } else {
      right = counted(member, begin, step) && right;
    }
    const double seconds = now() - begin;
    right = checked(member, first_counted + phases_counted(), step) && right;
    cell& mine = cells_[static_cast<std::size_t>(member)];
    mine.seconds = seconds;
    mine.right = right;
  }

  // Phases of each member, including those that are not counted. Known after run().
  [[nodiscard]] long phases() const { return first_counted + phases_counted() + 1; }

  // Seconds for the planned number of phases. Requires: all members have ended.
  [[nodiscard]] sample result() const {
    sample all{0, true};
    for (const cell& each : cells_) {
      all.seconds += each.seconds;
      all.correct = all.correct && each.right;
    }
    all.seconds /= static_cast<double>(cells_.size());
    all.seconds *= static_cast<double>(plan_.phases) / static_cast<double>(phases_counted());
    return all;
  }

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;
  static constexpr long first_counted = 5;

  struct alignas(64) cell {
    std::atomic<long> reached{0};
    double seconds = 0;
    bool right = false;
  };

  // From time to time member 0 checks the time. When it moves the end before a barrier, all members
  // know the new end after that barrier; it never moves the end into the phase of that barrier.
  template <class Step>
  bool counted(int member, double begin, Step&& step) {
    bool right = true;
    for (long phase = first_counted; phase < end_.load(relaxed); ++phase) {
      if (member == 0 && phase % 64 == 0 && now() - begin > plan_.budget) {
        end_.store(std::min(end_.load(relaxed), phase + 2), relaxed);
      }
      right = step(phase) && right;
    }
    return right;
  }

  template <class Step>
  bool checked(int member, long phase, Step& step) {
    const auto mine = static_cast<std::size_t>(member);
    const std::size_t neighbour = mine + 1 == cells_.size() ? 0 : mine + 1;
    cells_[mine].reached.store(phase + 1, relaxed);
    const bool right = step(phase);
    return cells_[neighbour].reached.load(relaxed) > phase && right;
  }

  [[nodiscard]] long phases_counted() const { return end_.load(relaxed) - first_counted; }

  [[nodiscard]] long affordable(double seconds_a_phase) const {
    const double most = plan_.budget / std::max(seconds_a_phase, 1e-9);
    return std::clamp(most < 1e9 ? static_cast<long>(most) : plan_.phases, 4L,
                      std::max(4L, plan_.phases));
  }

  plan plan_;
  std::vector<cell> cells_;
  std::atomic<long> end_{0};  // of the counted phases; written by member 0
};

// For a barrier that grows: a parent creates one more child before each round, up to `members` in
// all, and every child stays to the end. Returns the sum of the phases that
// the members go through.
inline long growing_phases(int members) {
  const long n = members;
  return (n - 1) + n * (n - 1) / 2;
}

}  // namespace bench
