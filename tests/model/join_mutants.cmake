# The mutants of the counter, and of the counting in the deque, in which join_model must find an
# error.
apgas_mutants(join scheduler/deques/include/apgas/scheduler/task_counter.hpp
  release_releases_nothing
    [[count_.fetch_sub(1, base::acq_rel)]] [[count_.fetch_sub(1, base::acquire)]]
  release_acquires_nothing
    [[count_.fetch_sub(1, base::acq_rel)]] [[count_.fetch_sub(1, base::release)]]
  alone_acquires_nothing
    [[return (count_.load(base::acquire)]] [[return (count_.load(base::relaxed)]]
  last_one_too_early
    [[base::acq_rel) & pending_mask) == 1;]] [[base::acq_rel) & pending_mask) <= 2;]]
  branch_sets_no_waiter_bit
    [[branch_count = waiter_bit + 1;]] [[branch_count = 1;]]
  waiter_bit_is_ignored
    [[return count_.load(base::acquire) == 1;]] [[return alone();]]
)
apgas_mutants(counting scheduler/deques/include/apgas/scheduler/deque.hpp
  counted_after_the_lock
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
    lock_.unlock();]]
    [[for (Slot* s = t; s < end; ++s) out[got.tasks++].assign(*s);
      if (got.tasks != 0) {
        tail_.store(end, relaxed);
        advance_ = 0;
      }
      if (fence) set_limit(std::max({limit, t + got.tasks, counted_}));
    }
    lock_.unlock();
    for (std::size_t i = 0; i < got.tasks; ++i) out[i].add(1);]]
)
