# The mutants of the idle list, the wake-up tree, the attention word of the deque, its emptiness and
# the parker in which idle_model must find an error.
apgas_mutants(idle scheduler/idling/src/idle.hpp
  wanted_without_light_fence
    [[base::light_fence();                  // P1]] ""
  begin_search_counts_nobody
    [[void begin_search() noexcept {
    lock_.lock();
    ++searching_;]]
    [[void begin_search() noexcept {
    lock_.lock();]]
  end_search_wakes_nobody
    [[if (wakes_two || searching_ == 0) taken[0] = take_locked();]] ""
  woken_one_does_not_search
    [[++searching_;
  }

  void add_locked]]
    [[}

  void add_locked]]
  announced_but_not_wanted
    [[poller_ = s;
    update_locked();]] [[poller_ = s;]]
  sleeper_still_searches
    [[--searching_;
    add_locked(s);]] [[add_locked(s);]]
  cancelled_though_taken
    [[return found;]] [[return true;]]
  taken_one_still_listed
    [[s->listed = false;]] ""
)
apgas_mutants(tree scheduler/idling/src/idle.hpp
  second_one_not_woken
    [[if (wakes_two) taken[1] = take_locked();]]
    [[if (wakes_two) static_cast<void>(take_locked());]]
  second_one_stays_listed
    [[if (wakes_two) taken[1] = take_locked();]] [[if (wakes_two) taken[1] = sleepers_;]]
)
apgas_mutants(attention scheduler/deques/include/apgas/scheduler/deque.hpp
  push_without_light_fence
    [[light_fence();
    return s >= attention_]] [[return s >= attention_]]
  attention_overlooked
    [[return s >= attention_.load(relaxed);]] [[return s + 1 == last_;]]
  attention_lost
    [[if (attention_.exchange(now, acq_rel) != nullptr) return false;  // P3]]
    [[
    attention_.store(now, relaxed);
    if (next != nullptr) return false;]]
)
apgas_mutants(emptiness scheduler/deques/include/apgas/scheduler/deque.hpp
  emptiness_by_the_tail_first
    [[const Slot* const h = head_.load(acquire);  // P4
    return tail_.load(relaxed) >= h;]]
    [[const Slot* const t = tail_.load(relaxed);
    return t >= head_.load(acquire);]]
  emptiness_acquires_nothing
    [[const Slot* const h = head_.load(acquire);  // P4
    return tail_]] [[const Slot* const h = head_.load(relaxed);
    return tail_]]
  move_publishes_no_tail
    [[head_.store(to, release);  // P4]] [[head_.store(to, relaxed);]]
)
apgas_mutants(parker scheduler/idling/src/parker.hpp
  token_without_release
    [[token_.exchange(1, base::acq_rel)]] [[token_.exchange(1, base::relaxed)]]
  token_without_acquire
    [[while (token_.exchange(0, base::acquire)]] [[while (token_.exchange(0, base::relaxed)]]
  no_wake
    [[syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&token_), FUTEX_WAKE_PRIVATE, 1, nullptr,
            nullptr, 0);]] ""
  token_not_set
    [[token_.exchange(1, base::acq_rel)]] [[token_.load(base::acquire)]]
)
