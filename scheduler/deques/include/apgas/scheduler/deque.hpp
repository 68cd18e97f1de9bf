// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <apgas/base/atomic.hpp>
#include <apgas/base/cache_line.hpp>
#include <apgas/base/spin_lock.hpp>

// The work-stealing deque of a worker. Its tasks lie in place, in an array of slots. The owner
// pushes and pops at the head, and thieves take the oldest tasks at the tail.
//
// The common path of the owner needs neither a fence instruction nor an atomic read-modify-write. A
// thief asks the owner for tasks, and the owner grants it some at its next push or pop; only the
// lock is needed to take these. If the deque has become empty by then, the owner grants the next
// task that it will push, and again after it has taken that one back, for a while. If the owner
// does not answer, because it runs a long task, owner and thief exclude each other by the
// asymmetric Dekker pattern of atomic.hpp: the owner executes the light fence, and the thief pays
// for both with the heavy one (membarrier), which interrupts every core that runs a thread of the
// process. docs/protocols/steal.md describes the protocol and why it is correct.
//
// A task is added to the counter of its finish or join only when it leaves the frame that spawned
// it ("count on leave"), and the deque does this counting: a thief counts the tasks that it takes,
// and the owner counts all its tasks before it leaves a fiber.
//
//               written by                        read by
//   head_       owner                             any thread
//   gate_       lock holder                       owner
//   limit_      lock holder                       owner, lock holder
//   attention_  owner; any thread, but only null  owner
//   refuse_     lock holder                       owner, lock holder
//   threshold_  owner                             owner
//   observed_   owner, while it holds the lock    owner, lock holder
//   asked_at_   lock holder                       any thread
//   tail_       lock holder                       any thread
//   counted_    owner, while it holds the lock    owner, lock holder
//   advance_    lock holder                       lock holder
//
// A pop of a slot below gate_ takes the slow path, with the lock. Normally gate_ equals limit_; it
// is the end of the array while every pop must take the slow path (fenced mode, a pop to be
// refused, or a thief that has asked). A push of a slot at or above attention_ asks the owner to
// call attend(). In an observed deque (task_observer.hpp), threshold_ says that: every push asks.
//
// Invariants
//   I1  The tasks are the slots in [tail_, head_). The slots below tail_ have been stolen.
//   I2  A slot in [tail_, counted_) is counted in its counter. A slot in [counted_, head_) is not:
//       it belongs to a frame of the owner's current fiber, and that frame does not end before the
//       slot has left the deque.
//   I3  limit_ >= max(tail_, counted_). A slot at or above limit_ belongs to the owner, which may
//       take it without the lock. While the lock is free, the owner takes none below limit_
//       without it: either the owner itself has set the limit, or a thief did so and then
//       executed the heavy fence. So a lock holder may take those without a fence.
//   I4  A thief reads a slot only under the lock, below limit_, and in [tail_, head_). Only the
//       owner writes slots: at head_ before it pushes them, and others while it holds the lock.
//   I5  If asked_at_ != 0 while the lock is free, then limit_ <= tail_: nothing has been granted
//       since. So every pop takes the lock and answers.
//   I6  limit_ is at most one above head_: then the next slot to be pushed is granted already.
//
// Pairs
//   P1  Every store of head_ has release order. So a thief that loads head_ with acquire order sees
//       the contents of the slots below, also if pop has lowered head_ since they were pushed. The
//       lock publishes everything that is written while it is held.
//   P2  pop stores head_, executes the light fence and loads gate_. steal stores gate_, executes
//       the heavy fence and loads head_. At least one of the two sees the store of the other, so no
//       slot is taken twice.
//   P3  An owner that exchanges the null of raise_attention() or ask_locked() in attend() sees
//       everything that this thread wrote before. So attend() looks at asked_at_ after the
//       exchange: a request that it does not see there has its null still to come, for the next
//       push. (If two threads store null before one exchange, the owner may miss what the first
//       one wrote. For a request this means only that the thief insists later.)
//   P4  A move of the tasks in the array stores tail_ and then head_; empty() and size() load head_
//       and then tail_. So they never see the new head_ with the old tail_, which would hide all
//       tasks from a worker that goes to sleep. With an old head_ and a newer tail_ they miss only
//       tasks that were pushed since, and such a push wakes the worker (docs/protocols/idle.md).
namespace apgas::inline v0::scheduler {

using namespace base;

// The type Slot must have three members: add(n) adds n tasks to the counter of the slot;
// same_counter(other) tells whether two slots have the same counter, so that publish() updates each
// counter only once; assign(other) copies a slot.
template <class Slot>
class deque {
 public:
  // Makes this an empty deque over the array `slots`, which has room for `capacity` slots. With
  // `fenced` every pop executes a full fence of its own; this is for systems without membarrier.
  // Context: the owner, before other threads use the deque.
  void reset(Slot* slots, std::size_t capacity, bool fenced) {
    first_ = slots;
    observed_ = false;
    last_ = slots + capacity;
    fenced_ = fenced;
    head_.store(slots, relaxed);
    tail_.store(slots, relaxed);
    counted_ = slots;
    set_limit(slots);
    asked_at_.store(0, relaxed);
    advance_ = 0;
    threshold_ = std::min(slots + initial_room, last_ - 1);
    attention_.store(fenced ? nullptr : threshold_, relaxed);
  }

  // ---- owner ----------------------------------------------------------------------------------
  Slot* head() const { return head_.load(relaxed); }

  // Makes the slot that the owner has written at `s` == head() visible to thieves. If it returns
  // true, the owner must call attend() now.
  [[nodiscard]] bool push(Slot* s) {
    head_.store(s + 1, release);  // P1
    light_fence();
    return s >= attention_.load(relaxed);
  }

  // Takes back the newest slot, `s` == head() - 1. Returns false if a thief has taken it; then
  // head() is `s`. Also returns false if the pop is refused (refuse_pop()); then head() is as
  // before the call, and every slot is counted.
  [[nodiscard]] bool pop(Slot* s) { return pop_fast(s) || pop_slow(s); }

  // The two parts of pop(). If pop_fast() returns false, pop_slow() must follow.
  [[nodiscard]] bool pop_fast(Slot* s) {
    head_.store(s, release);  // P1
    light_fence();            // P2
    return s >= gate_.load(relaxed);
  }
  [[gnu::noinline]] bool pop_slow(Slot* s);

  // Takes the slot `s` out of the middle of the deque, and moves the newest slot to its place. This
  // is for the branch of a join that lies below tasks which must not run on top of the join.
  // Returns false if a thief has taken it. Otherwise all slots that remain are counted.
  [[nodiscard]] bool extract(Slot* s);

  // Counts every slot, so that no slot depends on a frame any more. The owner calls it before it
  // leaves the current fiber.
  void publish() {
    if (is_published()) return;
    lock_.lock();
    publish_locked();
    lock_.unlock();
  }

  // Returns whether every slot is counted. May return false although thieves have taken all slots
  // that were not. Needs no lock, since only the owner writes the two members.
  bool is_published() const { return head_.load(relaxed) == counted_; }

  // Moves the newest slot to `out`; it stays counted. Returns false if the deque is empty.
  // Context: the owner's scheduling loop, while no frame has slots in the deque.
  [[nodiscard]] bool take_newest(Slot& out);
  // Moves the oldest slot to `out` if wanted(slot) is true; it stays counted. Returns false if it
  // is not wanted, or if the deque is empty.
  // Context: as take_newest().
  template <class Wanted>
  [[nodiscard]] bool take_oldest(Slot& out, Wanted wanted);

  // Moves the tasks to the beginning of the array if there is room for them below the oldest one;
  // with `overlapping`, already if some thousand slots are free there. Returns whether the deque is
  // still full.
  // Context: as take_newest().
  bool make_room(bool overlapping = false) {
    lock_.lock();
    publish_locked();
    move_down_locked(overlapping);
    lock_.unlock();
    return full();
  }
  // Moves the tasks to the array `slots`, which has room for `capacity` of them. When it returns,
  // no other thread accesses the old array any more. Meanwhile empty() may return true although
  // there are tasks, so a sleeping worker must be woken afterwards. Requires: capacity > size().
  // Context: as take_newest().
  void move_to(Slot* slots, std::size_t capacity);
  std::size_t capacity() const { return static_cast<std::size_t>(last_ - first_); }

  // Adds `n` tasks that are counted already, such as all but the first of those that were stolen
  // together.
  // Context: as take_newest().
  void push_counted(const Slot* slots, std::size_t n);

  // Replaces the array of the deque by `slots`, which holds `n` tasks that no counter waits for.
  // When it returns, no other thread accesses the old array any more.
  // Requires: empty(); reset() was called before the first adopt(). Context: owner.
  void adopt(Slot* slots, std::size_t n);

  // Moves the newest slot of an adopted array to `out`. Returns false if no slot is left.
  // Context: owner. Cost: that of pop().
  [[nodiscard]] bool take_top(Slot& out) {
    Slot* const h = head_.load(relaxed);
    if (h == first_ || empty() || !pop(h - 1)) return false;
    out.assign(h[-1]);
    return true;
  }
  // The same, but also returns false where it would need the lock. It calls no function.
  [[nodiscard, gnu::always_inline]] bool take_top_fast(Slot& out) {
    Slot* const h = head_.load(relaxed);
    if (h == first_) return false;
    head_.store(h - 1, release);  // P1
    light_fence();                // as P2
    if (h - 1 < gate_.load(relaxed)) [[unlikely]] {
      head_.store(h, release);  // P1; it was not taken
      return false;
    }
    out.assign(h[-1]);
    return true;
  }

  // Moves the slot `s` to the top of the deque and puts `by` in its place. Returns false, and
  // changes nothing, if `s` is counted or a thief may have taken it. A drain puts the continuation
  // of a spawner below its tasks in this way (drain.cpp).
  [[nodiscard]] bool exchange_below(Slot* s, const Slot& by);

  // Grants tasks to a thief that has asked for some. An owner calls it now and then while it
  // neither pushes nor pops tasks.
  void answer() {
    if (asked_at_.load(relaxed) != 0) [[unlikely]]
      answer_slow();
  }
  // Grants tasks before a thief asks. For an owner that is about to run a long task.
  void grant() { answer_slow(); }
  // Answers a push that returned true, and a thief that has asked. Returns true if
  // raise_attention() was called since the last call, or a thief has asked. The next push that
  // returns true is the one to the slot `next`, or to the last slot of the array if that comes
  // first.
  [[nodiscard]] bool attend(Slot* next) {
    if (fenced_) {  // attention_ stays null: every push comes here for its fence
      full_fence();
      return true;
    }
    Slot* now = std::min(next, last_ - 1);
    if (observed_) threshold_ = std::exchange(now, first_);
    if (attention_.exchange(now, acq_rel) != nullptr) return false;  // P3
    answer();
    return true;
  }
  // From now on the deque is observed: every push returns true, and thieves leave a slot alone that
  // was not rewritten. rewrite_all() must be called for what is in it. And the end of that.
  // Context: owner.
  void begin_observed();
  void end_observed();
  bool observed() const { return observed_; }
  // For an observed deque: rewrites the newest slot by rewrite(slot), unless a thief has taken it
  // before the deque was observed. Returns whether the push of that slot has returned true only for
  // this purpose, so that attend() need not be called.
  template <class Rewrite>
  bool rewrite_newest(Rewrite rewrite);
  // Calls rewrite(slot) for all slots but the newest `but`. Context: owner.
  template <class Rewrite>
  void rewrite_all(Rewrite rewrite, std::ptrdiff_t but = 0);
  // Returns the lowest slot that the owner may take without the lock.
  Slot* lowest_private() const { return limit_.load(relaxed); }
  // Returns whether at most two slots of the array are free above the newest task. Then the worker
  // must make room, or run its newest task, before it runs any other.
  bool full() const { return head_.load(relaxed) >= last_ - 2; }

  // ---- any thread -----------------------------------------------------------------------------
  // These two may be out of date when they return.
  bool empty() const {
    const Slot* const h = head_.load(acquire);  // P4
    return tail_.load(relaxed) >= h;
  }
  std::size_t size() const {
    const Slot* const h = head_.load(acquire);  // P4
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, h - tail_.load(relaxed)));
  }

  // Makes the next push of the owner return true.
  void raise_attention() { attention_.store(nullptr, release); }  // P3

  // Makes the next pop of the owner fail, once. Its frame then waits as if thieves had taken its
  // tasks, and the worker returns to its scheduling loop.
  void refuse_pop() {
    lock_.lock();
    refuse_.store(true, relaxed);
    gate_.store(last_, relaxed);
    lock_.unlock();
  }

  // When a thief asks, and how long it waits for the answer before it insists, by any clock that
  // all thieves of the deque use. It insists, too, if the request was made in the future by more
  // than the patience: the clock may differ between thieves. With a patience of 0 it insists at
  // once. Requires: now > 0.
  struct request {
    std::uint64_t now;
    std::uint64_t patience;
  };
  struct loot {
    std::size_t tasks = 0;  // how many were taken
    bool fenced = false;    // the thief has executed the heavy fence
  };
  // Takes up to `most` of the oldest tasks, but at most half of them (rounded up), counts those
  // that are not counted yet, and copies them to `out`. Takes nothing if another thread holds the
  // lock. If the owner has granted nothing, this call asks it for tasks, unless a thief has asked
  // before. A later call will find some, unless the owner neither pushes nor pops. Therefore, if a
  // thief asked for more than `patience` ago and has not been answered, the call takes tasks with
  // a heavy fence.
  // Context: any thread but the owner.
  [[nodiscard]] loot steal(Slot* out, std::size_t most, request by);

 private:
  static constexpr std::ptrdiff_t initial_room = 256;  // pushes before the first attend()
  static constexpr std::ptrdiff_t move_least = 4096;   // fewer unused slots stay where they are

  // How often the owner grants its next task in advance after a thief has asked. A thief that still
  // searches needs a few hundred nanoseconds to find one; each grant costs the owner about 6 ns.
  static constexpr int advance_most = 64;

  // Whether a thief has asked for tasks, has not been answered, and is still to wait.
  bool waits_for_answer(request by) const {
    const std::uint64_t since = asked_at_.load(relaxed);
    return since != 0 && by.patience != 0 && by.now + by.patience - since <= 2 * by.patience;
  }
  // Asks the owner for tasks: its next pop takes the slow path, and its next push returns true.
  void ask_locked(std::uint64_t now) {
    asked_at_.store(now, relaxed);
    advance_ = advance_most;
    set_limit(limit_.load(relaxed));
    attention_.store(nullptr, release);  // P3
  }
  // Answers thieves: lets them take half of the tasks (rounded up) without a fence; or, if there is
  // none, the next task that is pushed. Context: owner.
  void grant_locked();

  void thief_fence() {
    if (fenced_) {
      full_fence();
    } else {
      heavy_fence();
    }
  }

  // Sets limit_, and gate_ with it: to the end of the array in fenced mode, while a pop is to be
  // refused, and while a thief waits for an answer.
  void set_limit(Slot* to) {
    const bool slow = fenced_ || refuse_.load(relaxed) || asked_at_.load(relaxed) != 0;
    limit_.store(to, relaxed);
    gate_.store(slow ? last_ : to, relaxed);
  }

  [[gnu::noinline, gnu::cold]] void answer_slow();

  // The first slot of [begin, end) that an observer does not permit to be stolen yet.
  static Slot* end_of_observed(Slot* begin, Slot* end);

  // Counts all slots that are not, and lets thieves take every slot.
  void publish_locked();
  [[gnu::noinline]] void count_locked();  // without the latter

  // Lowers the head to `to`. Requires: all slots below `to` are counted.
  void shrink_locked(Slot* to) {
    head_.store(to, release);  // P4
    counted_ = to;
    set_limit(to);
  }

  // Tasks are added at the head and also taken at the tail, so that without this they would wander
  // to the end of the array. Unless `overlapping`, a move copies no more slots than were taken at
  // the tail since the last one. Requires: all slots are counted, and no frame refers to them.
  void move_down_locked(bool overlapping = false);
  void move_locked();  // requires the same; leaves no free slot below the tasks

  // Starts again at the beginning of the array. Requires: the deque is empty.
  void rewind_locked() {
    tail_.store(first_, relaxed);
    shrink_locked(first_);
  }

  alignas(cache_line_bytes) base::atomic<Slot*> head_{};
  base::atomic<Slot*> gate_{};
  base::atomic<Slot*> attention_{};
  base::atomic<Slot*> limit_{};
  base::atomic<std::uint64_t> asked_at_{0};
  Slot* first_ = nullptr;
  Slot* last_ = nullptr;
  base::atomic<bool> refuse_{false};
  bool fenced_ = false;
  bool observed_ = false;

  alignas(cache_line_bytes) spin_lock lock_;
  base::atomic<Slot*> tail_{};
  Slot* counted_ = nullptr;
  Slot* threshold_ = nullptr;  // of an observed deque
  int advance_ = 0;            // how often the owner still grants its next task in advance
};

}  // namespace apgas::inline v0::scheduler

#include <apgas/scheduler/deque_locked.hpp>
