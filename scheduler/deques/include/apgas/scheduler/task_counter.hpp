// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <source_location>

#include <apgas/base/atomic.hpp>

// The counter by which an owner waits for tasks. There is one in every finish, in every join of a
// fork_join, and in the state of every remote finish.
//
// The counter holds the number of *pending counts*. A task, frame or thread that holds a count
// keeps the owner waiting until it releases it.
//
//              written by                           read by
//   count_     any thread that holds a count        any thread that holds a count
//   waiter_    owner, before it releases its count  the thread that releases the last count
//
// Invariants
//   I1  While the frame of the owner lives, count_ >= 1: the owner holds a count until it releases
//       it in order to wait. A thread may add counts only while it holds one, or while it holds the
//       lock of a deque with a task of this counter.
//   I2  A task that only its own frame can reach is not counted (count on leave, see deque.hpp).
//   I3  The bits from 40 up are the waiter bit: they are non-zero if the owner has more to do at
//       the end than to go on, because a branch of the join left its deque or because the finish
//       has details. They are never cleared. So one load tells the owner of the usual case that
//       nothing happened.
//
// Pairs
//   P1  The thread that releases the last count, and an owner for which alone() or untouched() is
//       true, see everything that was written before the other counts were released.
namespace apgas::inline v0::scheduler {

struct fiber;

// Is notified of the release of the last count, in place of a waiting fiber.
class counter_observer {
 public:
  counter_observer() = default;
  counter_observer(const counter_observer&) = delete;
  counter_observer& operator=(const counter_observer&) = delete;
  virtual ~counter_observer() = default;

  // The last count was released. Context: the thread that released it; must not suspend.
  virtual void on_zero() noexcept = 0;
};

class alignas(8) task_counter {
 public:
  explicit task_counter(std::int64_t pending = 1) noexcept : count_(pending) {}
  task_counter(const task_counter&) = delete;
  task_counter& operator=(const task_counter&) = delete;

  // Adds `n` counts. Context: see I1.
  void add(std::int64_t n) noexcept { count_.fetch_add(n, base::relaxed); }

  // Adds one count where there may be none yet. Returns whether there was none.
  // Context: under a lock that every caller of add_first() and release_only() holds.
  [[nodiscard]] bool add_first() noexcept {
    const std::int64_t before = count_.load(base::relaxed);
    if ((before & pending_mask) != 0)
      return (count_.fetch_add(1, base::relaxed) & pending_mask) == 0;
    count_.store(before + 1, base::relaxed);  // nobody has a count, so nobody else can change it
    return true;
  }
  // Releases the caller's count if it is the only one. Returns whether it was.
  // Context: as add_first().
  [[nodiscard]] bool release_only() noexcept {
    const std::int64_t before = count_.load(base::acquire);  // P1
    if ((before & pending_mask) != 1) return false;
    count_.store(before - 1, base::relaxed);
    return true;
  }

  // Releases a count. If it returns true, this was the last one, and the caller must resume
  // waiter() or notify observer().
  [[nodiscard]] bool release() noexcept {
    return (count_.fetch_sub(1, base::acq_rel) & pending_mask) == 1;  // P1
  }

  // Returns whether only the owner's count is left. Context: owner.
  bool alone() const noexcept {
    return (count_.load(base::acquire) & pending_mask) == 1;  // P1
  }
  // Returns whether only the owner's count is left and the waiter bit (I3) is not set.
  // Context: owner.
  bool untouched() const noexcept { return count_.load(base::acquire) == 1; }  // P1
  // Returns the number of pending counts; it may be out of date.
  std::int64_t count() const noexcept { return count_.load(base::relaxed) & pending_mask; }

  // Makes sure that untouched() is false from now on. Context: as add().
  void touch() noexcept {
    if (count_.load(base::relaxed) < waiter_bit) add(waiter_bit);
  }

  // The waiter bit (I3) alone, and together with the count of a branch that leaves its deque.
  static constexpr std::int64_t waiter_bit = std::int64_t{1} << 40;
  static constexpr std::int64_t branch_count = waiter_bit + 1;

  // The owner sets one of these before it releases its count: the fiber to resume, or the observer
  // to notify, when the last count is released.
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
  std::uintptr_t waiter_;  // not initialised until the owner waits, which saves a store
};

// The counter of a join: of a fork_join, which knows where it was called and the finish around it.
class branch_counter : public task_counter {
 public:
  branch_counter(task_counter* enclosing, std::source_location site) noexcept
      : enclosing_(enclosing), site_(site) {}

  task_counter* enclosing() const noexcept { return enclosing_; }
  std::source_location site() const noexcept { return site_; }

 private:
  task_counter* enclosing_;
  std::source_location site_;
};

}  // namespace apgas::inline v0::scheduler
