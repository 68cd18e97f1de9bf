// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <apgas/base/atomic.hpp>

// Who waits for tasks: the counter of a finish, a join, or a proxy of a finish of another place.
//
//              written by                       read by
//   count_     anybody who holds a unit         anybody who holds a unit
//   waiter_    the owner, before its unit goes  who took the last unit
//
// Invariants
//   I1  While the owner's frame lives, count_ >= 1: the owner holds a unit until it gives it up in
//       its wait. Only who holds a unit, or the lock of a deque with a task of it, may add.
//   I2  A task that nobody but its own frame can reach is not counted (count on leave).
//   I3  The upper part of count_ is a mark that the owner has more to do than to go on: a branch of
//   a
//       join left its deque, or a finish got details. So the owner's usual case is one load.
//
// Pairs
//   P1  What a task did is visible to who takes the last unit, and to the owner that sees alone().
namespace apgas::inline v0::scheduler {

struct fiber;

// Called by who takes the last unit, in place of waking a fiber.
class counter_observer {
 public:
  counter_observer() = default;
  counter_observer(const counter_observer&) = delete;
  counter_observer& operator=(const counter_observer&) = delete;
  virtual ~counter_observer() = default;

  // Context: worker, at loop level; must not suspend.
  virtual void on_zero() noexcept = 0;
};

class alignas(8) task_counter {
 public:
  explicit task_counter(std::int64_t pending = 1) noexcept : count_(pending) {}
  task_counter(const task_counter&) = delete;
  task_counter& operator=(const task_counter&) = delete;

  // Context: see I1.
  void add(std::int64_t n) noexcept { count_.fetch_add(n, base::relaxed); }

  // The same where nobody may hold a unit: true if the count was zero.
  [[nodiscard]] bool add_first() noexcept { return count_.fetch_add(1, base::relaxed) == 0; }

  // Gives a unit up. True: it was the last; the caller must deal with waiter() or observer().
  [[nodiscard]] bool release() noexcept {
    return (count_.fetch_sub(1, base::acq_rel) & pending_mask) == 1;  // P1
  }

  // Whether the owner's unit is the only one left. Context: owner.
  bool alone() const noexcept {
    return (count_.load(base::acquire) & pending_mask) == 1;  // P1
  }
  // Whether the owner's unit is the only one left and there is no mark (I3). Context: owner.
  bool untouched() const noexcept { return count_.load(base::acquire) == 1; }  // P1
  std::int64_t count() const noexcept { return count_.load(base::relaxed) & pending_mask; }

  // See I3: the mark alone, and a unit of a branch that leaves.
  static constexpr std::int64_t waiter_bit = std::int64_t{1} << 40;
  static constexpr std::int64_t branch_count = waiter_bit + 1;

  // Who is told of the last unit; set before the owner gives its unit up.
  void set_waiter(fiber* f) noexcept { waiter_ = reinterpret_cast<std::uintptr_t>(f); }
  void set_observer(counter_observer* o) noexcept {
    waiter_ = reinterpret_cast<std::uintptr_t>(o) | 1U;
  }
  fiber* waiter() const noexcept {
    return (waiter_ & 1U) != 0 ? nullptr : reinterpret_cast<fiber*>(waiter_);
  }
  counter_observer* observer() const noexcept {
    return reinterpret_cast<counter_observer*>(waiter_ & ~std::uintptr_t{1});
  }

 private:
  static constexpr std::int64_t pending_mask = (std::int64_t{1} << 40) - 1;

  base::atomic<std::int64_t> count_;
  std::uintptr_t waiter_;  // unset until the owner waits: a store saved on every spawn
};

}  // namespace apgas::inline v0::scheduler
