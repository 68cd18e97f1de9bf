// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <apgas/base/atomic.hpp>
#include <apgas/base/cache_line.hpp>
#include <apgas/base/spin_lock.hpp>

// The deque of a worker: tasks lie in place in an array of slots; the owner works at the head,
// thieves take from the tail. The owner's path has no fence and no read-modify-write: the full
// fence of the Dekker handshake stands in the thief (heavy_fence = membarrier).
// docs/protocols/steal.md tells why.
//
//               written by                        read by
//   head_       owner                             owner, thieves
//   gate_       lock holder                       owner        (limit_, or the top: see set_limit)
//   limit_      lock holder                       owner, lock holder
//   attention_  owner, any thread (null)          owner
//   refuse_     lock holder                       owner, lock holder
//   tail_       lock holder                       anybody
//   counted_    owner as lock holder              owner, lock holder
//
// Invariants
//   I1  The tasks are the slots [tail_, head_); what lies below tail_ was stolen.
//   I2  A slot in [tail_, counted_) is counted in its counter, one in [counted_, head_) is not: it
//       belongs to a frame of the owner's current fiber, which will not end before the slot left.
//   I3  limit_ >= max(tail_, counted_): a slot at or above the limit is the owner's without a lock.
//   I4  Only a lock holder reads slots below the limit; only the owner writes slots at or above it.
//
// Pairs
//   P1  push publishes a slot's contents to the thief that sees the new head_. What is written
//       under the lock the lock publishes.
//   P2  pop's (store head_, light fence, load gate_) against steal's (store gate_, heavy fence,
//   load
//       head_): one of the two sees the other, so a slot is not taken twice.
//   P3  raise_attention's null reaches the owner's exchange in attend().
namespace apgas::inline v0::scheduler {

using namespace base;

// What the deque needs to know of a slot: adding `n` tasks to the counter of `s`, and whether two
// slots have the same counter (publishing updates each counter once).
template <class Slot>
class deque {
 public:
  // Requires: `slots` has room for `capacity` slots. `fenced`: every pop fences by itself, for
  // systems without membarrier.
  void reset(Slot* slots, std::size_t capacity, bool fenced) {
    first_ = slots;
    last_ = slots + capacity;
    fenced_ = fenced;
    head_.store(slots, relaxed);
    tail_.store(slots, relaxed);
    counted_ = slots;
    set_limit(slots);
    attention_.store(fenced ? nullptr : std::min(slots + initial_room, last_ - 1), relaxed);
  }

  // ---- owner ----------------------------------------------------------------------------------
  Slot* head() const { return head_.load(relaxed); }

  // Makes the slot written at `s` == head() visible. True: the owner must call attend() now.
  [[nodiscard]] bool push(Slot* s) {
    head_.store(s + 1, release);  // P1
    light_fence();
    return s >= attention_.load(relaxed);
  }

  // Takes the slot `s` == head() - 1. False: a thief had it; or it was refused, then head() is as
  // before and everything is counted.
  [[nodiscard]] bool pop(Slot* s) {
    head_.store(s, relaxed);
    light_fence();  // P2
    if (s >= gate_.load(relaxed)) [[likely]]
      return true;
    return pop_slow(s);
  }

  // Takes the slot `s` out of the middle, after it was found below tasks that other frames must
  // run. False: a thief had it. Everything left is counted.
  [[nodiscard]] bool extract(Slot* s) {
    lock_.lock();
    const bool mine = s >= tail_.load(relaxed);
    if (mine) {
      publish_locked();
      Slot* top = head_.load(relaxed) - 1;
      s->add(-1);
      if (s != top) s->assign(*top);
      shrink_locked(top);
    }
    lock_.unlock();
    return mine;
  }

  // Counts every slot, so that none depends on a frame any more. Called before a fiber is left.
  void publish() {
    if (is_published()) return;
    lock_.lock();
    publish_locked();
    lock_.unlock();
  }

  // Whether there is nothing to publish. False also when thieves took what there was.
  bool is_published() const {
    return head_.load(relaxed) == counted_;
  }  // both the owner's to write

  // Takes the newest or the oldest slot, which stays counted. Context: owner without frames.
  [[nodiscard]] bool take_newest(Slot& out) {
    if (empty() && head() == first_) return false;
    lock_.lock();
    publish_locked();
    Slot* s = head_.load(relaxed);
    const bool found = s > tail_.load(relaxed);
    if (found) {
      out.assign(*--s);
      shrink_locked(s);
    } else {
      rewind_locked();
    }
    lock_.unlock();
    return found;
  }
  // The oldest only if wanted(slot). False: it is not, or there is none.
  template <class Wanted>
  [[nodiscard]] bool take_oldest(Slot& out, Wanted wanted) {
    if (empty()) return false;
    lock_.lock();
    publish_locked();
    Slot* s = tail_.load(relaxed);
    bool found = s < head_.load(relaxed);
    if (!found) {
      rewind_locked();
    } else if (found = wanted(*s); found) {
      out.assign(*s);
      tail_.store(s + 1, relaxed);
    }
    lock_.unlock();
    return found;
  }

  // Puts tasks that are counted already (the rest of a stolen batch) into the deque.
  // Context: owner without frames.
  void push_counted(const Slot* slots, std::size_t n) {
    lock_.lock();
    publish_locked();
    if (head_.load(relaxed) == tail_.load(relaxed)) rewind_locked();
    Slot* h = head_.load(relaxed);
    for (std::size_t i = 0; i < n; ++i) (h++)->assign(slots[i]);
    counted_ = h;
    set_limit(h);
    head_.store(h, relaxed);
    lock_.unlock();
  }

  // Makes the array `slots`, with `n` tasks that no counter waits for, the deque. The old array is
  // nobody's then. Requires: empty(); reset() before the first. Context: owner.
  void adopt(Slot* slots, std::size_t n) {
    lock_.lock();
    first_ = slots;
    last_ = slots + n;
    tail_.store(slots, relaxed);
    counted_ = slots;
    set_limit(slots);
    head_.store(slots + n, relaxed);
    lock_.unlock();
  }

  // Takes the newest slot of an array that was adopted. False: there is none left.
  // Context: owner. Cost: as pop.
  [[nodiscard]] bool take_top(Slot& out) {
    Slot* const h = head_.load(relaxed);
    if (h == first_ || empty() || !pop(h - 1)) return false;
    out.assign(h[-1]);
    return true;
  }
  // The same, also false when it would take the lock to find out: nothing is called.
  [[nodiscard, gnu::always_inline]] bool take_top_fast(Slot& out) {
    Slot* const h = head_.load(relaxed);
    if (h == first_) return false;
    head_.store(h - 1, relaxed);
    light_fence();  // as P2
    if (h - 1 < gate_.load(relaxed)) [[unlikely]] {
      head_.store(h, relaxed);  // it was not taken
      return false;
    }
    out.assign(h[-1]);
    return true;
  }

  // Replaces the slot `s` by `by` and puts the old one on top, unless a thief had it or it is
  // counted. The continuation of a spawner is put below its tasks this way.
  [[nodiscard]] bool exchange_below(Slot* s, const Slot& by) {
    lock_.lock();
    Slot* h = head_.load(relaxed);
    const bool mine = s >= limit_.load(relaxed);
    if (mine) {
      h->assign(*s);
      s->assign(by);
      head_.store(h + 1, relaxed);
    }
    lock_.unlock();
    return mine;
  }

  // Answers a push that returned true. True: somebody raised attention since the last call.
  // The next push that needs an answer is the one at `mark` (or the end of the array).
  [[nodiscard]] bool attend(Slot* mark) {
    if (fenced_) {  // attention stays raised: every push comes here for its fence
      full_fence();
      return true;
    }
    return attention_.exchange(std::min(mark, last_ - 1), acq_rel) == nullptr;  // P3
  }
  Slot* lowest_private() const { return limit_.load(relaxed); }
  bool full() const { return head_.load(relaxed) >= last_ - 2; }

  // ---- any thread -----------------------------------------------------------------------------
  bool empty() const { return tail_.load(relaxed) >= head_.load(relaxed); }
  std::size_t size() const {
    return static_cast<std::size_t>(
        std::max<std::ptrdiff_t>(0, head_.load(relaxed) - tail_.load(relaxed)));
  }

  // The owner's next push will return true.
  void raise_attention() { attention_.store(nullptr, release); }  // P3

  // A pop of the owner is refused, once, so that its frame waits and its worker looks around.
  void refuse_pop() {
    lock_.lock();
    refuse_.store(true, relaxed);
    gate_.store(last_, relaxed);
    lock_.unlock();
  }

  // Moves up to `most`, but at most half, of the oldest tasks to `out` and counts them.
  // Context: any thread but the owner. Returns how many; 0 also when the lock is taken.
  [[nodiscard]] std::size_t steal(Slot* out, std::size_t most) {
    if (empty() || !lock_.try_lock()) return 0;
    Slot* const t = tail_.load(relaxed);
    const std::ptrdiff_t seen = head_.load(relaxed) - t;
    std::size_t taken = 0;
    if (seen > 0) {
      Slot* end = t + std::min((seen + 1) / 2, static_cast<std::ptrdiff_t>(most));
      set_limit(std::max(end, counted_));
      thief_fence();                             // P2
      end = std::min(end, head_.load(acquire));  // P1 P2
      for (Slot* s = t; s < end; ++s) {
        if (s >= counted_) s->add(1);
        out[taken++].assign(*s);
      }
      if (taken != 0) tail_.store(end, relaxed);
      set_limit(std::max(t + taken, counted_));
    }
    lock_.unlock();
    return taken;
  }

 private:
  static constexpr std::ptrdiff_t initial_room = 256;

  void thief_fence() {
    if (fenced_) {
      full_fence();
    } else {
      heavy_fence();
    }
  }

  // The gate is higher in fenced mode, and to refuse a pop.
  void set_limit(Slot* to) {
    limit_.store(to, relaxed);
    gate_.store(fenced_ || refuse_.load(relaxed) ? last_ : to, relaxed);
  }

  // The owner met the gate. `s` is head() already.
  [[gnu::noinline]] bool pop_slow(Slot* s) {
    if (fenced_) {
      full_fence();  // P2
      if (s >= limit_.load(relaxed) && !refuse_.load(relaxed)) return true;
    }
    lock_.lock();
    bool mine = s >= tail_.load(relaxed);
    if (refuse_.load(relaxed) && mine) {
      refuse_.store(false, relaxed);
      head_.store(s + 1, relaxed);
      publish_locked();
      mine = false;
    } else if (mine) {
      if (s < counted_) {
        s->add(-1);
        counted_ = s;
      }
      set_limit(std::max(counted_, tail_.load(relaxed)));
    } else {  // it was stolen, and so was all below: the deque is empty here
      tail_.store(s, relaxed);
      counted_ = std::min(counted_, s);
      set_limit(s);
    }
    lock_.unlock();
    return mine;
  }

  void publish_locked() {
    Slot* const h = head_.load(relaxed);
    for (Slot* s = std::max(counted_, tail_.load(relaxed)); s < h;) {
      Slot* const first = s;
      while (s < h && s->same_counter(*first)) ++s;
      first->add(s - first);
    }
    counted_ = h;
    set_limit(h);
  }

  // The head comes down to `to`; everything that is left is counted.
  void shrink_locked(Slot* to) {
    head_.store(to, relaxed);
    counted_ = to;
    set_limit(to);
  }

  void rewind_locked() {
    tail_.store(first_, relaxed);
    shrink_locked(first_);
  }

  alignas(cache_line_bytes) base::atomic<Slot*> head_{};
  base::atomic<Slot*> gate_{};
  base::atomic<Slot*> attention_{};
  base::atomic<Slot*> limit_{};
  base::atomic<bool> refuse_{false};
  Slot* first_ = nullptr;
  Slot* last_ = nullptr;
  bool fenced_ = false;

  alignas(cache_line_bytes) spin_lock lock_;
  base::atomic<Slot*> tail_{};
  Slot* counted_ = nullptr;
};

}  // namespace apgas::inline v0::scheduler
