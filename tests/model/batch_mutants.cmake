# The mutants of the deque in which batch_model must find an error.
apgas_mutants(batch scheduler/deques/include/apgas/scheduler/deque.hpp
  adopt_without_lock
    [[lock_.lock();
    first_ = slots;
    last_ = slots + n;
    tail_.store(slots, relaxed);
    counted_ = slots;
    set_limit(slots);
    head_.store(slots + n, release);  // P4 of deque.hpp
    lock_.unlock();]]
    [[first_ = slots;
    last_ = slots + n;
    tail_.store(slots, relaxed);
    counted_ = slots;
    set_limit(slots);
    head_.store(slots + n, release);  // P4 of deque.hpp]]
  lock_publishes_nothing
    [[spin_lock lock_;]] [[relaxed_lock lock_;]]
  adopt_shows_the_head_unlocked
    [[head_.store(slots + n, release);  // P4 of deque.hpp
    lock_.unlock();]]
    [[lock_.unlock();
    head_.store(slots + n, release);  // P4 of deque.hpp]]
  adopt_keeps_last
    [[last_ = slots + n;
    tail_]] [[tail_]]
  adopt_keeps_tail
    [[last_ = slots + n;
    tail_.store(slots, relaxed);]] [[last_ = slots + n;]]
  adopt_keeps_counted
    [[counted_ = slots;
    set_limit(slots);
    head_.store(slots + n, release);  // P4 of deque.hpp]]
    [[set_limit(slots);
    head_.store(slots + n, release);  // P4 of deque.hpp]]
  adopt_keeps_limit
    [[counted_ = slots;
    set_limit(slots);
    head_.store(slots + n, release);  // P4 of deque.hpp]]
    [[counted_ = slots;
    head_.store(slots + n, release);  // P4 of deque.hpp]]
  adopt_sets_limit_before_last
    [[first_ = slots;
    last_ = slots + n;
    tail_.store(slots, relaxed);
    counted_ = slots;
    set_limit(slots);]]
    [[first_ = slots;
    set_limit(slots);
    last_ = slots + n;
    tail_.store(slots, relaxed);
    counted_ = slots;]]
  adopt_loses_the_newest
    [[head_.store(slots + n, release);]] [[head_.store(slots + n - 1, release);]]
  take_ignores_thief
    [[if (h == first_ || empty() || !pop(h - 1)) return false;]]
    [[if (h == first_ || empty()) return false;
    static_cast<void>(pop(h - 1));]]
  take_from_nothing
    [[if (h == first_ || empty() || !pop(h - 1)) return false;]] [[if (!pop(h - 1)) return false;]]
  fast_without_light_fence
    [[light_fence();  // as P2]] ""
  fast_looks_first
    [=[head_.store(h - 1, release);  // P1
    light_fence();  // as P2
    if (h - 1 < gate_.load(relaxed)) [[unlikely]] {
      head_.store(h, release);  // P1; it was not taken
      return false;
    }]=]
    [=[if (h - 1 < gate_.load(relaxed)) return false;
    head_.store(h - 1, release);  // P1
    light_fence();]=]
  fast_reads_limit
    [[if (h - 1 < gate_.load(relaxed))]] [[if (h - 1 < limit_.load(relaxed))]]
  fast_ignores_gate
    [[if (h - 1 < gate_.load(relaxed))]] [[if (false)]]
  fast_one_too_far
    [[if (h - 1 < gate_.load(relaxed))]] [[if (h < gate_.load(relaxed))]]
  fast_one_too_few
    [[if (h - 1 < gate_.load(relaxed))]] [[if (h - 1 <= gate_.load(relaxed))]]
  fast_keeps_the_head_down
    [[head_.store(h, release);  // P1; it was not taken]] ""
  steal_reads_tail_unlocked
    [[if (empty() || waits_for_answer(by) || !lock_.try_lock()) return got;
    Slot* const t = tail_.load(relaxed);]]
    [[Slot* const t = tail_.load(relaxed);
    if (empty() || waits_for_answer(by) || !lock_.try_lock()) return got;]]
  steal_reads_slots_unlocked
    [[for (Slot* s = t; s < end; ++s) {
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
    return got;]]
    [[for (Slot* s = t; s < end; ++s) {
        if (s >= counted_) s->add(1);
        ++got.tasks;
      }
      if (got.tasks != 0) {
        tail_.store(end, relaxed);
        advance_ = 0;
      }
      if (fence) set_limit(std::max({limit, t + got.tasks, counted_}));
    }
    lock_.unlock();
    for (std::size_t i = 0; i < got.tasks; ++i) out[i].assign(t[i]);
    return got;]]
  steal_without_heavy_fence
    [[thief_fence();                             // P2 of deque.hpp]] ""
  steal_more_than_asked
    [[most < static_cast<std::size_t>(half - t) ? t + most : half]] [[half]]
  steal_more_than_half
    [[Slot* const half = t + (seen + 1) / 2;]] [[Slot* const half = t + seen;]]
  slow_pop_without_lock
    [[lock_.lock();
    bool mine = s >= tail_.load(relaxed);
    if (refuse_]]
    [[bool mine = s >= tail_.load(relaxed);
    lock_.lock();
    if (refuse_]]
)
