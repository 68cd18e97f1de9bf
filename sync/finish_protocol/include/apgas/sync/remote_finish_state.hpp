// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <apgas/base/assert.hpp>
#include <apgas/sync/credit.hpp>

namespace apgas::inline v0::sync {

// The state of a finish at a place that is not its home (X10's remote finish state). It is created
// when the first task frame arrives, or for an escaping spawn (below), and it is destroyed or used
// again after give_back(), which leaves it as new. This is a pure state machine: it does not lock,
// read the time, send or allocate.
//
// A task counter counts the tasks of the finish at this place, without a lock. The state machine
// counts the busy periods of that counter. A busy period begins with an arrival that finds the
// counter at zero. It ends with on_idle(), which is called by the thread that released the last
// count. The report may come late, when a younger period has begun, but the state still exists
// then, because it is kept until the end of every period has been reported.
//
// Context:  one caller at a time, under the lock of the table of remote finishes. A task that calls
//           split() is counted here during the call.
// Order:    messages may arrive in any order.
//
// Invariants (docs/protocols/finish.md has the proof)
//   R1  If busy_periods_ > 0 then pool_ > 0: while a task of the finish is here, home cannot
//       complete.
//   R2  A frame waits if and only if a request or its grant is on its way (asked_) or the waiting
//       frames are about to be sent. At most one request is on its way.
//   R3  No credit is given back while a busy period lasts, a frame waits or a grant is on its way.
class remote_finish_state {
 public:
  struct split_result {
    std::uint64_t share;  // goes with the frame; 0: the caller keeps the frame until a grant comes
    bool ask;             // the caller sends a request to the home place now
  };

  // `frames` task frames arrived with `credit` in all, and their tasks have been added to the
  // counter, which was zero before if `wakes`.
  void on_arrival(credit_sum credit, bool wakes, std::uint64_t frames = 1) noexcept {
    APGAS_ASSERT(frames > 0 && credit >= frames, "a task frame came without credit");
    busy_periods_ += wakes ? 1 : 0;
    APGAS_ASSERT(busy_periods_ > 0, "a task frame arrived and nothing counts it");
    add(credit);
    balance_ -= static_cast<std::int64_t>(frames);
  }

  // The reply of an `at` that was called here carries the credit that the other place gave back.
  // Requires: the calling task is counted here.
  void on_reply(const returned_credit& returned) noexcept {
    APGAS_ASSERT(busy_periods_ > 0, "a reply of an at came to a place where no task waits for it");
    APGAS_ASSERT(returned.credit() > 0, "a reply gives back no credit");
    add(returned.credit());
    balance_ += returned.balance;
  }

  // A place whose parent is this one returned its credit (tree_return.hpp). The caller then checks
  // quiescent().
  void on_return(const returned_credit& returned) noexcept {
    APGAS_ASSERT(pool_ > 0, "a place is gone before a child that is linked to it");
    APGAS_ASSERT(returned.credit() > 0, "a return without credit");
    add(returned.credit());
    balance_ += returned.balance;
  }

  // A task that runs here sends a task to another place, which may be the home place.
  [[nodiscard]] split_result split() noexcept {
    APGAS_ASSERT(busy_periods_ > 0 && pool_ > 0, "a task is sent from a place where none is");
    return split_or_wait();
  }

  // The same for an escaping spawn: a task of an inner finish spawns into this outer one
  // (uncounted_async_at), which may have no credit here.
  // Requires: the caller holds a pending count of the inner finish until the frame has left. That
  // keeps the home place waiting.
  [[nodiscard]] split_result split_escaping() noexcept { return split_or_wait(); }

  // The home place granted a request. The caller then calls next_waiting() for each waiting frame,
  // oldest first, until none is left or the result says to ask again. It may release the lock in
  // between.
  void on_grant(std::uint64_t credit) noexcept {
    APGAS_ASSERT(asked_ && waiting_ > 0, "a grant that was not asked for");
    APGAS_ASSERT(credit > 0, "a share is never empty");
    asked_ = false;
    add(credit);
  }

  // Returns the share of the oldest waiting frame. If it is 0, the frame goes on waiting and the
  // caller sends another request. Requires: a grant has come.
  [[nodiscard]] split_result next_waiting() noexcept {
    APGAS_ASSERT(!asked_ && waiting_ > 0, "no frame may leave before the grant");
    const std::uint64_t share = take_share();
    if (share == 0) {
      asked_ = true;
      return {0, true};
    }
    --waiting_;
    return {share, false};
  }

  // The counter became zero. The thread that released the last count calls this once for each time.
  void on_idle() noexcept {
    APGAS_ASSERT(busy_periods_ > 0, "more tasks ended than arrived");
    --busy_periods_;
  }

  // Returns whether this place must give its credit back. The caller checks it after on_idle() and
  // after waiting frames have been sent.
  bool quiescent() const noexcept { return busy_periods_ == 0 && waiting_ == 0 && pool_ > 0; }

  // Returns all credit of the pool, to be sent in a return message, or in the reply of the `at`
  // whose body was the last task here. The state is as new afterwards, and the caller may forget it
  // under the same lock.
  [[nodiscard]] returned_credit give_back() noexcept {
    APGAS_ASSERT(quiescent() && !asked_, "credit is given back from a place that still needs it");
    const returned_credit all{static_cast<std::uint64_t>(pool_),
                              static_cast<std::uint64_t>(pool_ >> 64), balance_};
    *this = remote_finish_state{};
    return all;
  }

  // Returns whether the state is as new: no task is here, no frame waits and no credit is held.
  bool empty() const noexcept { return busy_periods_ == 0 && waiting_ == 0 && pool_ == 0; }

  credit_sum pool() const noexcept { return pool_; }
  std::uint32_t waiting() const noexcept { return waiting_; }

 private:
  friend struct finish_test_access;  // the simulation, which dumps the state and injects faults

  void add(credit_sum credit) noexcept {
    pool_ += credit;
    APGAS_ASSERT(pool_ >= credit, "a pool is larger than all the credit there is");
  }

  split_result split_or_wait() noexcept {
    const bool first = waiting_ == 0;  // otherwise the frame queues behind the others
    if (first) {
      const std::uint64_t share = take_share();
      if (share != 0) return {share, false};
      asked_ = true;
    }
    ++waiting_;
    return {0, first};
  }

  // The shift is at least 1, so some credit is left in the pool (R1).
  std::uint64_t take_share() noexcept {
    const std::uint64_t share = next_share(pool_, splits_);
    if (share == 0) return 0;
    pool_ -= share;
    splits_ = std::min(splits_ + 1, most_splits);
    ++balance_;
    return share;
  }

  credit_sum pool_ = 0;
  std::int64_t balance_ = 0;        // task frames sent less task frames received, since it was new
  std::uint32_t busy_periods_ = 0;  // of the counter, whose end has not been reported
  std::uint32_t splits_ = 0;        // task frames sent, at most most_splits
  std::uint32_t waiting_ = 0;       // frames that wait for a grant
  bool asked_ = false;              // a request or its grant is on its way
};
static_assert(sizeof(remote_finish_state) <= 64, "one cache line");

}  // namespace apgas::inline v0::sync
