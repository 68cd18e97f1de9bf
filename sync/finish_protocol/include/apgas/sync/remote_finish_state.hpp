// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <apgas/base/assert.hpp>
#include <apgas/sync/credit.hpp>

namespace apgas::inline v0::sync {

// A finish of another place, as one place sees it: made for the first task frame (or for a guest,
// below), gone or used again after give_back(), which leaves a machine as good as new.
// A pure state machine: no lock, no clock, nothing sent, nothing allocated.
//
// The tasks here are counted elsewhere (a task counter), without the lock. The machine counts the
// runs of that counter: a run begins with an arrival that found it zero and ends with on_idle(),
// called by whoever made it zero again. A late report may meet a younger run of the same proxy but
// never a proxy that is gone: it stays until every run has been reported.
//
// Context:  one caller at a time (under the lock of the proxy table). Code of the finish that calls
//           split() is counted here while it does.
// Order:    of messages does not matter.
//
// Invariants (proof in docs/protocols/finish.md)
//   R1  runs_ > 0 implies pool_ > 0: while a task of the finish is here, home cannot complete.
//   R2  A frame waits if and only if a request or its grant is on its way (asked_) or a drain is
//   due:
//       one request at most is on its way.
//   R3  Nothing is given back while a run lasts, a frame waits or a grant is on its way.
class remote_finish_state {
 public:
  struct split_result {
    std::uint64_t share;  // goes with the frame; 0: the frame waits (the caller keeps it)
    bool ask;             // send home a request now
  };

  // `frames` task frames with `credit` together arrived, and their tasks have been added to the
  // counter. `wakes`: it was zero before.
  void on_arrival(credit_sum credit, bool wakes, std::uint64_t frames = 1) noexcept {
    APGAS_ASSERT(frames > 0 && credit >= frames, "a task frame came without credit");
    runs_ += wakes ? 1 : 0;
    APGAS_ASSERT(runs_ > 0, "a task frame arrived and nothing counts it");
    add(credit);
    balance_ -= static_cast<std::int64_t>(frames);
  }

  // The reply of an `at` called here carried what the other place gave back.
  // Requires: the calling task is counted here.
  void on_reply(const returned_credit& returned) noexcept {
    APGAS_ASSERT(runs_ > 0, "a reply of an at came to a place where no task waits for it");
    APGAS_ASSERT(returned.credit() > 0, "a reply gives back no credit");
    add(returned.credit());
    balance_ += returned.balance;
  }

  // A place that was tied to this one gave back (tree_return.hpp). Then ask quiescent().
  void on_return(const returned_credit& returned) noexcept {
    APGAS_ASSERT(pool_ > 0, "a place is gone before one that was tied to it");
    APGAS_ASSERT(returned.credit() > 0, "a return without credit");
    add(returned.credit());
    balance_ += returned.balance;
  }

  // A task of the finish that runs here goes to another place, home included.
  [[nodiscard]] split_result split() noexcept {
    APGAS_ASSERT(runs_ > 0 && pool_ > 0, "a task is sent from a place where none is");
    return split_or_wait();
  }

  // The same for a task of an inner finish that spawns into this outer one (uncounted_async_at).
  // Requires: the inner finish is held open until the frame has left, which keeps home alive.
  [[nodiscard]] split_result split_escaping() noexcept { return split_or_wait(); }

  // Home granted a request. Then a drain is due: next_waiting() for each frame that waits, oldest
  // first, until none is left or it says to ask. The lock may be released in between.
  void on_grant(std::uint64_t credit) noexcept {
    APGAS_ASSERT(asked_ && waiting_ > 0, "a grant that was not asked for");
    APGAS_ASSERT(credit > 0, "a share is never empty");
    asked_ = false;
    add(credit);
  }

  // The share of the oldest waiting frame, after a grant. 0: go on waiting, send home a request.
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

  // The counter became zero. Called once for each time, by whoever took the last unit.
  void on_idle() noexcept {
    APGAS_ASSERT(runs_ > 0, "more tasks ended than arrived");
    --runs_;
  }

  // Whether the place must give back; to be asked after on_idle() and after a drain.
  bool quiescent() const noexcept { return runs_ == 0 && waiting_ == 0 && pool_ > 0; }

  // All of the pool, for one message home or for the reply of the `at` whose body ended last here.
  // Afterwards the machine is empty: forget it, under the same lock.
  [[nodiscard]] returned_credit give_back() noexcept {
    APGAS_ASSERT(quiescent() && !asked_, "credit is given back from a place that still needs it");
    const returned_credit all{static_cast<std::uint64_t>(pool_),
                              static_cast<std::uint64_t>(pool_ >> 64), balance_};
    *this = remote_finish_state{};
    return all;
  }

  // As new: nothing here, waiting or held.
  bool empty() const noexcept { return runs_ == 0 && waiting_ == 0 && pool_ == 0; }

  credit_sum pool() const noexcept { return pool_; }
  std::uint32_t waiting() const noexcept { return waiting_; }

 private:
  friend struct finish_test_access;  // the simulation: state dumps, and faults on purpose

  void add(credit_sum credit) noexcept {
    pool_ += credit;
    APGAS_ASSERT(pool_ >= credit, "a pool is larger than all the credit there is");
  }

  split_result split_or_wait() noexcept {
    const bool first = waiting_ == 0;  // else the frame queues behind the others
    if (first) {
      const std::uint64_t share = take_share();
      if (share != 0) return {share, false};
      asked_ = true;
    }
    ++waiting_;
    return {0, first};
  }

  // The shift is at least 1, so that something is left in the pool (R1).
  std::uint64_t take_share() noexcept {
    const std::uint64_t share = next_share(pool_, splits_);
    if (share == 0) return 0;
    pool_ -= share;
    splits_ = std::min(splits_ + 1, most_splits);
    ++balance_;
    return share;
  }

  credit_sum pool_ = 0;
  std::int64_t balance_ = 0;   // task frames sent less received, since the machine was new
  std::uint32_t runs_ = 0;     // of the counter, begun and not yet reported as ended
  std::uint32_t splits_ = 0;   // task frames sent, up to most_splits
  std::uint32_t waiting_ = 0;  // frames that wait for a grant
  bool asked_ = false;         // a request or its grant is on its way
};
static_assert(sizeof(remote_finish_state) <= 64, "one cache line");

}  // namespace apgas::inline v0::sync
