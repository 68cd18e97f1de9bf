// SPDX-License-Identifier: Apache-2.0
#pragma once

// A kernel is written once, over a policy that says how the tasks of a round keep in step:
//
//   sync.round(n, send, advance_lazy, receive)  per node: send, then receive, when all have sent
//   sync.rounds_while(n, live, steps...)        each node repeats its steps while live(node)
//   sync.each(n, f)                             f for every node, no order among them
//   sync.atomic(f)                              f alone among all atomic sections
//
// and where nodes are. With several places every place runs the kernel, on a block of the nodes of
// its own; what it writes at others, and what others read of it, goes through the policy:
//
//   sync.block(n), sync.own(nodes)              the numbers of the own nodes, and the nodes
//   sync.tell(nodes, i, f, args...)             f(nodes[i], args...) where that node is
//   sync.show(nodes, i, member)                 the others may read that member of an own node
//   sync.total(x)                               the sum over the places; known_to(i, x): the x of
//                                               the place that has node i
//
// f has no captures; its arguments are values that are their bytes, or a std::span of such.
//
// A round is a sequence of phases, callable with a node, and of the words between them. What one
// phase writes, tells or shows, the next may read at any node; within a phase two nodes may write
// the same only atomically. The policies: clocks.hpp, finish.hpp, baseline.hpp at one place;
// steps_over_places.hpp.

#include <concepts>
#include <cstdint>

namespace imsuite {

struct lazy_advance {};
struct eager_advance {};
struct eager_resume {};

inline constexpr lazy_advance advance_lazy;    // waits for all, giving way at once
inline constexpr eager_advance advance_eager;  // waits for all, awake for a while
inline constexpr eager_resume resume_eager;    // at the end: nobody need wait for this task

template <class Step>
concept phase = std::invocable<const Step&, int>;

template <class Step>
concept advance = std::same_as<Step, lazy_advance> || std::same_as<Step, eager_advance>;

// How often a task advances in one round of these steps.
template <class... Steps>
inline constexpr int advances_in = (0 + ... + int{advance<Steps>});

// What a policy was asked to do.
class tally {
 public:
  [[nodiscard]] std::int64_t rounds() const { return rounds_; }
  // Advances of all tasks together.
  [[nodiscard]] std::int64_t phases() const { return phases_; }

 protected:
  void count_round(int tasks, int advances) {
    ++rounds_;
    phases_ += std::int64_t{tasks} * advances;
  }
  // One of several tasks that live through rounds of their own number; all that a kernel does.
  void count_task(std::int64_t rounds, int advances) {
    rounds_ = rounds > rounds_ ? rounds : rounds_;
    phases_ += rounds * advances;
  }

 private:
  std::int64_t rounds_ = 0;
  std::int64_t phases_ = 0;
};

}  // namespace imsuite
