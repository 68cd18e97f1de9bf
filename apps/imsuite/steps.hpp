// SPDX-License-Identifier: Apache-2.0
#pragma once

// A kernel is written once, over a policy that defines how the tasks of a round keep in lock-step:
//
//   sync.round(n, send, advance_lazy, receive)  per node: send, then receive, when all have sent
//   sync.rounds_while(n, live, steps...)        each node repeats its steps while live(node)
//   sync.each(n, f)                             f for every node, in any order
//   sync.atomic(f)                              f, excluding all other atomic sections
//
// The policy also defines where nodes are. With several places every place runs the kernel on its
// own block of the nodes. Writes to nodes of other places, and values that other places read, go
// through the policy:
//
//   sync.block(n), sync.own(nodes)              the numbers of the own nodes, and the nodes
//   sync.tell(nodes, i, f, args...)             calls f(nodes[i], args...) where that node is
//   sync.show(nodes, i, member)                 publishes that member of an own node
//   sync.total(x)                               the sum over the places; known_to(i, x): the x of
//                                               the place that has node i
//
// f has no captures; its arguments are trivially copyable values, or a std::span of such values.
//
// A round is a sequence of phases, which are callable with a node, and of advances between them.
// What one phase writes, tells or shows, the next phase may read at any node. Within a phase two
// nodes may write the same data only atomically. The policies for one place are clocks.hpp,
// finish.hpp and baseline.hpp; those for several places are in steps_over_places.hpp.

#include <concepts>
#include <cstdint>

namespace imsuite {

struct lazy_advance {};
struct eager_advance {};
struct eager_resume {};

inline constexpr lazy_advance advance_lazy;    // waits for all tasks; suspends at once
inline constexpr eager_advance advance_eager;  // waits for all tasks; spins first
// At the end of a round: no task need wait for this one.
inline constexpr eager_resume resume_eager;

template <class Step>
concept phase = std::invocable<const Step&, int>;

template <class Step>
concept advance = std::same_as<Step, lazy_advance> || std::same_as<Step, eager_advance>;

// How often a task advances in one round of these steps.
template <class... Steps>
inline constexpr int advances_in = (0 + ... + int{advance<Steps>});

// Counts the rounds and phases of a policy.
class round_counts {
 public:
  [[nodiscard]] std::int64_t rounds() const { return rounds_; }
  // Advances of all tasks together.
  [[nodiscard]] std::int64_t phases() const { return phases_; }

 protected:
  void count_round(int tasks, int advances) {
    ++rounds_;
    phases_ += std::int64_t{tasks} * advances;
  }
  // Counts one task of rounds_while(), which goes through its own number of rounds. A kernel that
  // uses rounds_while() has no other rounds.
  void count_task(std::int64_t rounds, int advances) {
    rounds_ = rounds > rounds_ ? rounds : rounds_;
    phases_ += rounds * advances;
  }

 private:
  std::int64_t rounds_ = 0;
  std::int64_t phases_ = 0;
};

}  // namespace imsuite
