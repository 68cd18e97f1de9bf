// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/scheduler/deque.hpp>  // NOLINT(misc-header-include-cycle): it has the class

// The longer ones of the operations that hold the lock of the deque. deque.hpp explains them, and
// lists the invariants I1 to I6 and the pairs P1 to P4.
namespace apgas::inline v0::scheduler {

template <class Slot>
bool deque<Slot>::take_newest(Slot& out) {
  if (empty() && head() == first_) return false;
  lock_.lock();
  if (!is_published()) count_locked();
  asked_at_.store(0, relaxed);  // what is left may be taken by thieves
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

template <class Slot>
template <class Wanted>
bool deque<Slot>::take_oldest(Slot& out, Wanted wanted) {
  if (empty()) return false;
  lock_.lock();
  publish_locked();
  move_down_locked();
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

template <class Slot>
void deque<Slot>::push_counted(const Slot* slots, std::size_t n) {
  lock_.lock();
  publish_locked();
  if (head_.load(relaxed) == tail_.load(relaxed)) rewind_locked();
  Slot* h = head_.load(relaxed);
  for (std::size_t i = 0; i < n; ++i) (h++)->assign(slots[i]);
  counted_ = h;
  set_limit(h);
  head_.store(h, release);  // P4 of deque.hpp
  lock_.unlock();
}

template <class Slot>
void deque<Slot>::move_to(Slot* slots, std::size_t capacity) {
  lock_.lock();
  publish_locked();
  first_ = slots;
  last_ = slots + capacity;
  move_locked();
  lock_.unlock();
}

template <class Slot>
[[gnu::always_inline]] inline void deque<Slot>::adopt(Slot* slots, std::size_t n) {
  lock_.lock();
  first_ = slots;
  last_ = slots + n;
  tail_.store(slots, relaxed);
  counted_ = slots;
  set_limit(slots);
  head_.store(slots + n, release);  // P4 of deque.hpp
  lock_.unlock();
}

template <class Slot>
bool deque<Slot>::extract(Slot* s) {
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

template <class Slot>
auto deque<Slot>::steal(Slot* out, std::size_t most, request by) -> loot {
  loot got;
  if (empty() || waits_for_answer(by) || !lock_.try_lock()) return got;
  Slot* const t = tail_.load(relaxed);
  const std::ptrdiff_t seen = head_.load(acquire) - t;  // P1 of deque.hpp
  if (seen > 0) {
    Slot* const half = t + (seen + 1) / 2;
    Slot* end = most < static_cast<std::size_t>(half - t) ? t + most : half;
    Slot* limit = limit_.load(relaxed);
    const bool asked = asked_at_.load(relaxed) != 0;
    const bool insist = by.patience == 0 || (asked && !waits_for_answer(by));
    const bool fence = fenced_ ? end > limit : limit <= t && insist;
    if (fence) {
      got.fenced = !fenced_;
      asked_at_.store(0, relaxed);
      set_limit(half);
      thief_fence();                                // P2 of deque.hpp
      limit = std::min(half, head_.load(acquire));  // P1 of deque.hpp, P2 of deque.hpp
    } else if (limit <= t && !asked) {
      ask_locked(by.now);
    }
    end = std::min(end, limit);
    if (observed_) end = end_of_observed(t, end);
    for (Slot* s = t; s < end; ++s) {
      if (s >= counted_) s->add(1);
      out[got.tasks++].assign(*s);
    }
    if (got.tasks != 0) {
      tail_.store(end, relaxed);
      advance_ = 0;
    }
    if (fence) set_limit(std::max({limit, t + got.tasks, counted_}));
  }
  lock_.unlock();
  return got;
}

template <class Slot>
bool deque<Slot>::pop_slow(Slot* s) {
  if (fenced_) {
    full_fence();  // P2 of deque.hpp
    if (s >= limit_.load(relaxed) && !refuse_.load(relaxed)) return true;
  }
  lock_.lock();
  bool mine = s >= tail_.load(relaxed);
  if (refuse_.load(relaxed) && mine) {
    refuse_.store(false, relaxed);
    head_.store(s + 1, release);  // P1 of deque.hpp
    publish_locked();
    mine = false;
  } else if (mine) {
    if (s < counted_) {
      s->add(-1);
      counted_ = s;
    }
    set_limit(std::max(counted_, tail_.load(relaxed)));
    if (asked_at_.load(relaxed) != 0 || (advance_ > 0 && empty())) grant_locked();
  } else {  // it was stolen, and so were all slots below it: the deque is empty
    tail_.store(s, relaxed);
    counted_ = std::min(counted_, s);
    set_limit(s);
  }
  lock_.unlock();
  return mine;
}

template <class Slot>
void deque<Slot>::answer_slow() {
  lock_.lock();
  grant_locked();
  lock_.unlock();
}

template <class Slot>
[[gnu::always_inline]] inline void deque<Slot>::publish_locked() {
  if (!is_published()) count_locked();
  asked_at_.store(0, relaxed);  // thieves may take every slot now
  set_limit(counted_);
}

template <class Slot>
void deque<Slot>::count_locked() {
  Slot* const h = head_.load(relaxed);
  for (Slot* s = std::max(counted_, tail_.load(relaxed)); s < h;) {
    Slot* const first = s;
    while (s < h && s->same_counter(*first)) ++s;
    first->add(s - first);
  }
  counted_ = h;
}

template <class Slot>
[[gnu::always_inline]] inline void deque<Slot>::move_down_locked(bool overlapping) {
  const std::ptrdiff_t unused = tail_.load(relaxed) - first_;
  const std::ptrdiff_t n = head_.load(relaxed) - tail_.load(relaxed);
  const std::ptrdiff_t enough = std::min(move_least, (last_ - first_) / 2);
  if (unused >= (overlapping ? enough : std::max(n, enough))) move_locked();
}

template <class Slot>
[[gnu::noinline]] void deque<Slot>::move_locked() {
  Slot* const t = tail_.load(relaxed);
  const std::ptrdiff_t n = head_.load(relaxed) - t;
  for (std::ptrdiff_t i = 0; i < n; ++i) first_[i].assign(t[i]);
  tail_.store(first_, relaxed);
  shrink_locked(first_ + n);
  if (!fenced_) attention_.store(nullptr, relaxed);  // its position was chosen for the old head
}

template <class Slot>
void deque<Slot>::grant_locked() {
  Slot* const t = tail_.load(relaxed);
  const std::ptrdiff_t n = std::max<std::ptrdiff_t>(0, head_.load(relaxed) - t);
  asked_at_.store(0, relaxed);
  if (n == 0) {
    --advance_;
    set_limit(std::min(t + 1, last_));
  } else {
    set_limit(std::max(limit_.load(relaxed), t + (n + 1) / 2));
  }
}

template <class Slot>
bool deque<Slot>::exchange_below(Slot* s, const Slot& by) {
  lock_.lock();
  Slot* h = head_.load(relaxed);
  const bool mine = s >= limit_.load(relaxed);
  if (mine) {
    h->assign(*s);
    s->assign(by);
    head_.store(h + 1, release);  // P4 of deque.hpp
  }
  lock_.unlock();
  return mine;
}

template <class Slot>
void deque<Slot>::begin_observed() {
  lock_.lock();
  observed_ = true;
  lock_.unlock();
  raise_attention();
}

template <class Slot>
void deque<Slot>::end_observed() {
  lock_.lock();
  observed_ = false;
  lock_.unlock();
  raise_attention();
}

template <class Slot>
template <class Rewrite>
bool deque<Slot>::rewrite_newest(Rewrite rewrite) {
  Slot* const s = head_.load(relaxed) - 1;
  lock_.lock();
  if (s >= tail_.load(relaxed)) rewrite(*s);
  lock_.unlock();
  return s < threshold_ && attention_.load(relaxed) == first_;
}

template <class Slot>
template <class Rewrite>
void deque<Slot>::rewrite_all(Rewrite rewrite, std::ptrdiff_t but) {
  lock_.lock();
  Slot* const end = head_.load(relaxed) - but;
  for (Slot* s = tail_.load(relaxed); s < end; ++s) rewrite(*s);
  lock_.unlock();
}

template <class Slot>
Slot* deque<Slot>::end_of_observed(Slot* begin, Slot* end) {
  if constexpr (requires { begin->may_be_stolen(); }) {
    for (; begin < end && begin->may_be_stolen(); ++begin) {
    }
    return begin;
  }
  return end;
}

}  // namespace apgas::inline v0::scheduler
