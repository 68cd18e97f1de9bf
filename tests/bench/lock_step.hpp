// SPDX-License-Identifier: Apache-2.0
#pragma once

// Members of a barrier going through phases together, measured the same way for whoever they are:
// tasks of ours, threads, fibers. A run has
//   two phases that are checked, in which every member gets its stack and starts;
//   two that are timed to see how many more the budget pays for;
//   the phases that count, of which each member takes the time itself, fewer when that was wrong;
//   a last one that is checked.
// In a checked phase every member marks its cell before the barrier and looks at its neighbour's
// after it: a member that was let through too early sees that the neighbour has not been there.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

#include "harness.hpp"

namespace bench {

struct plan {
  int members = 2;
  long phases = 100;       // that count, at most
  double budget = 1;       // seconds that they may take; above it there are fewer
  bool check_all = false;  // the phases that count are checked too
};

// What a member contributes to the reduction of a phase, and what everybody must read after it.
inline long contribution(int member, long phase) { return member + phase; }
inline long reduction(int members, long phase) {
  const long n = members;
  return n * (n - 1) / 2 + n * phase;
}

class lock_step {
 public:
  explicit lock_step(const plan& p) : plan_(p), cells_(static_cast<std::size_t>(p.members)) {}

  // What one member does from its start to its end. step(phase) waits at the barrier until all are
  // there; false says that it saw something wrong.
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

  // Of each member, those that do not count included. Known after run().
  [[nodiscard]] long phases() const { return first_counted + phases_counted() + 1; }

  // Seconds for as many phases as were planned. Requires: all members have ended.
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

  // Member 0 looks at the clock now and then. What it says about the end before a barrier all know
  // after it; it is never about the phase of that barrier.
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
  std::atomic<long> end_{0};  // of the phases that count; written by member 0
};

// The members of a barrier that grows: a parent that creates one more child before each round, up
// to `members` in all, every child staying till the end. What all of them count together.
inline long growing_phases(int members) {
  const long n = members;
  return (n - 1) + n * (n - 1) / 2;
}

}  // namespace bench
