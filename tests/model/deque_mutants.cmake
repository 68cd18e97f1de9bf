# The mutants of the deque in which deque_model must find an error.
apgas_mutants(deque scheduler/deques/include/apgas/scheduler/deque.hpp
  pop_without_light_fence
    [[light_fence();  // P2]] ""
  steal_without_heavy_fence
    [[thief_fence();                                // P2 of deque.hpp]] ""
  fenced_pop_without_fence
    [[full_fence();  // P2 of deque.hpp]] ""
  fenced_steal_without_fence
    [[if (fenced_) {
      full_fence();
    } else {]] [[if (!fenced_) {]]
  limit_after_the_fence
    [[set_limit(half);
        thief_fence();                                // P2 of deque.hpp]]
    [[thief_fence();
        set_limit(half);]]
  limit_not_raised
    [[set_limit(half);
        thief]] [[thief]]
  push_publishes_nothing
    [[head_.store(s + 1, release);  // P1
    light_fence();]] [[head_.store(s + 1, relaxed);
    light_fence();]]
  steal_acquires_nothing
    [[const std::ptrdiff_t seen = head_.load(acquire)]] [[const std::ptrdiff_t seen = head_.load(relaxed)]]
  forced_steal_acquires_nothing
    [[std::min(half, head_.load(acquire))]] [[std::min(half, head_.load(relaxed))]]
  stale_head
    [[limit = std::min(half, head_.load(acquire));  // P1 of deque.hpp, P2 of deque.hpp]] [[limit = half;]]
  stolen_not_counted
    [[if (s >= counted_) s->add(1);]] ""
  counted_twice
    [[if (s >= counted_) s->add(1);]] [[s->add(1);]]
  tail_stays
    [[tail_.store(end, relaxed);
      advance_]] [[advance_]]
  limit_below_tail
    [[set_limit(std::max({limit, t + got.tasks, counted_}));]] [[set_limit(counted_);]]
  more_than_granted
    [[end = std::min(end, limit);]] [[if (fence) end = std::min(end, limit);]]
  observed_slot_stolen_before_it_is_rewritten
    [[if (observed_) end = end_of_observed(t, end);]] ""
  observed_slot_rewritten_without_the_lock
    [[lock_.lock();
  if (s >= tail_.load(relaxed)) rewrite(*s);
  lock_.unlock();]] [[if (s >= tail_.load(relaxed)) rewrite(*s);]]
  observed_push_that_does_not_ask
    [[if (observed_) threshold_ = std::exchange(now, first_);]] ""
  granted_without_the_lock
    [[lock_.lock();
    grant_locked();
    lock_.unlock();]] [[grant_locked();]]
  granted_in_advance_behind_the_gate
    [[set_limit(std::min(t + 1, last_));]] [[set_limit(t);
    limit_.store(t + 1, relaxed);]]
  taken_back_without_a_change_of_the_limit
    [[set_limit(std::max(counted_, tail_.load(relaxed)));
      if (asked_]] [[gate_.store(std::max(counted_, tail_.load(relaxed)), relaxed);
      if (asked_]]
  slow_pop_ignores_thief
    [[bool mine = s >= tail_.load(relaxed);
    if (refuse_]]
    [[bool mine = true;
    if (refuse_]]
  refused_pop_counts_nothing
    [[head_.store(s + 1, release);  // P1 of deque.hpp
      publish_locked();
      mine]] [[head_.store(s + 1, release);
      mine]]
  refused_pop_loses_the_slot
    [[head_.store(s + 1, release);  // P1 of deque.hpp
      publish_locked();
      mine]] [[publish_locked();
      mine]]
  lost_pop_keeps_tail
    [[tail_.store(s, relaxed);
      counted_ = std::min(counted_, s);]] [[counted_ = std::min(counted_, s);]]
  popped_stays_counted
    [[s->add(-1);
        counted_ = s;]] [[counted_ = s;]]
  popped_keeps_counted
    [[s->add(-1);
        counted_ = s;]] [[s->add(-1);]]
  lost_pop_keeps_counted
    [[tail_.store(s, relaxed);
      counted_ = std::min(counted_, s);]] [[tail_.store(s, relaxed);]]
  extracted_stays_counted
    [[s->add(-1);
      if (s != top)]] [[if (s != top)]]
  extract_does_not_publish
    [[publish_locked();
      Slot* top]] [[Slot* top]]
  extract_loses_the_top
    [[if (s != top) s->assign(*top);]] ""
  publish_counts_stolen
    [[Slot* s = std::max(counted_, tail_.load(relaxed)); s < h;]] [[Slot* s = counted_; s < h;]]
  publish_keeps_counted
    [[first->add(s - first);
    }
    counted_ = h;]] [[first->add(s - first);
    }]]
  take_newest_counts_nothing
    [[if (!is_published()) count_locked();
    asked_at_.store(0, relaxed);  // what]] [[asked_at_.store(0, relaxed);  // what]]
  pushed_keeps_counted
    [[counted_ = h;
    set_limit(h);
    head_]] [[set_limit(h);
    head_]]
  lowered_head_keeps_counted
    [[counted_ = to;]] ""
  rewind_keeps_tail
    [[tail_.store(first_, relaxed);
    shrink_locked(first_);]] [[shrink_locked(first_);]]
  moved_without_the_lock
    [[lock_.lock();
    publish_locked();
    first_ = slots;
    last_ = slots + capacity;
    move_locked();
    lock_.unlock();]]
    [[publish_locked();
    first_ = slots;
    last_ = slots + capacity;
    move_locked();]]
  moved_keeps_tail
    [[tail_.store(first_, relaxed);
  shrink_locked(first_ + n);]] [[shrink_locked(first_ + n);]]
  moved_loses_the_newest
    [[shrink_locked(first_ + n);]] [[shrink_locked(first_ + n - 1);]]
  take_oldest_keeps_tail
    [[out.assign(*s);
    tail_.store(s + 1, relaxed);]] [[out.assign(*s);]]
)
