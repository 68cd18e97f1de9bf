# The mutants of the deque in which drain_model must find an error.
apgas_mutants(drain scheduler/deques/include/apgas/scheduler/deque.hpp
  exchange_of_a_stolen_slot
    [[const bool mine = s >= limit_.load(relaxed);
    if (mine) {
      h->assign]]
    [[const bool mine = true;
    if (mine) {
      h->assign]]
  exchange_without_lock
    [[lock_.lock();
    Slot* h = head_.load(relaxed);
    const bool mine = s >= limit_.load(relaxed);
    if (mine) {
      h->assign(*s);
      s->assign(by);
      head_.store(h + 1, release);  // P4 of deque.hpp
    }
    lock_.unlock();]]
    [[Slot* h = head_.load(relaxed);
    const bool mine = s >= limit_.load(relaxed);
    if (mine) {
      h->assign(*s);
      s->assign(by);
      head_.store(h + 1, release);  // P4 of deque.hpp
    }]]
  exchange_loses_the_task
    [[h->assign(*s);
      s->assign(by);]] [[s->assign(by);]]
  publish_keeps_limit
    [[asked_at_.store(0, relaxed);  // thieves may take every slot now
    set_limit(counted_);]] [[asked_at_.store(0, relaxed);]]
  popped_stays_counted
    [[s->add(-1);
        counted_ = s;]] [[counted_ = s;]]
  stolen_not_counted
    [[if (s >= counted_) s->add(1);]] ""
)
