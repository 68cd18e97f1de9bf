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
    [[set_limit(half);]] ""
  push_publishes_nothing
    [[head_.store(s + 1, release);  // P1]] [[head_.store(s + 1, relaxed);]]
  steal_acquires_nothing
    [[head_.load(acquire)]] [[head_.load(relaxed)]]
  stale_head
    [[limit = std::min(half, head_.load(acquire));  // P1 of deque.hpp, P2 of deque.hpp]] [[limit = half;]]
  stolen_not_counted
    [[if (s >= counted_) s->add(1);]] ""
  counted_twice
    [[if (s >= counted_) s->add(1);]] [[s->add(1);]]
  tail_stays
    [[if (taken != 0) tail_.store(end, relaxed);]] ""
  limit_below_tail
    [[set_limit(std::max({limit, t + taken, counted_}));]] [[set_limit(counted_);]]
  more_than_granted
    [[end = std::min(end, limit);]] [[if (fence) end = std::min(end, limit);]]
  granted_without_the_lock
    [[lock_.lock();
    grant_locked();
    lock_.unlock();]] [[grant_locked();]]
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
    [[head_.store(s + 1, relaxed);
      publish_locked();
      mine]] [[head_.store(s + 1, relaxed);
      mine]]
  refused_pop_loses_the_slot
    [[head_.store(s + 1, relaxed);
      publish_locked();
      mine]] [[publish_locked();
      mine]]
  lost_pop_keeps_tail
    [[tail_.store(s, relaxed);
      counted_ = std::min(counted_, s);]] [[counted_ = std::min(counted_, s);]]
  popped_stays_counted
    [[s->add(-1);
        counted_ = s;]] [[counted_ = s;]]
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
  take_oldest_keeps_tail
    [[out.assign(*s);
      tail_.store(s + 1, relaxed);]] [[out.assign(*s);]]
)
