// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <apgas/base/atomic.hpp>
#include <apgas/base/spin_lock.hpp>

// Who searches for work and who sleeps. docs/protocols/idle.md.
//
//               written by                read by
//   wanted_     lock holder               any producer
//   searching_  lock holder               lock holder
//   sleepers_   lock holder               lock holder
//
// Invariants
//   I1  wanted_ == (searching_ == 0 and somebody sleeps): then, and only then, a producer must
//   wake. I2  If work is visible in a queue, then some worker searches or none sleeps, or the
//   producer of
//       that work is on its way into notify(), or a sleeper is on its way through its last look.
//   I3  Who is taken off the list is counted as searching by who takes it off.
//   I4  A worker that finds work as the last searcher wakes the next sleeper: there may be more,
//   and
//       its producer did not wake anybody because this one searched. The one woken also takes over
//       the watch of the network when it sleeps again, if nobody asleep has it.
//
// Pairs
//   P1  A producer's (make work visible, light fence, load wanted_) against a sleeper's (store
//       wanted_, heavy fence, last look at the queues): one of the two sees the other.
//
// Preferring sleepers that do not watch the network is an optimisation; so is waking one at a time.
namespace apgas::inline v0::scheduler {

// Seat: what the list holds of a worker. Must have `Seat* next` and `bool watching`.
template <class Entry>
class idle_list {
 public:
  // Whether a producer that made work visible must call take_sleeper(). Context: any thread.
  bool wanted() const noexcept {
    base::light_fence();  // P1
    return wanted_.load(base::relaxed);
  }

  // Nobody searches: takes the sleeper that shall, or null. The caller wakes it.
  [[nodiscard]] Entry* take_sleeper() noexcept {
    lock_.lock();
    Entry* s = searching_ == 0 ? take_locked() : nullptr;
    update_locked();
    lock_.unlock();
    return s;
  }

  // The sleeper that watches, or null: what it waits for has changed. The caller wakes it.
  [[nodiscard]] Entry* take_sleeping_poller() noexcept {
    lock_.lock();
    Entry* s = sleepers_;
    while (s != nullptr && !s->is_poller) s = s->next;
    if (s != nullptr) take_off_locked(s);
    update_locked();
    lock_.unlock();
    return s;
  }

  void begin_search() noexcept {
    lock_.lock();
    ++searching_;
    update_locked();
    lock_.unlock();
  }

  // Whether somebody asleep watches the network: what comes finds a worker then.
  bool has_poller() noexcept {
    lock_.lock();
    const bool is = has_poller_;
    lock_.unlock();
    return is;
  }

  // The worker found work. Returns the sleeper to wake by I4, or null.
  [[nodiscard]] Entry* end_search() noexcept {
    lock_.lock();
    --searching_;
    Entry* s = searching_ == 0 ? take_locked() : nullptr;
    update_locked();
    lock_.unlock();
    return s;
  }

  // The worker found nothing and will sleep, unless its last look after this finds something.
  // `watch`: it is asked to watch the network if nobody asleep does. True: it does watch.
  // The caller runs the heavy fence and then looks at every queue.
  bool announce_sleep(Entry* s) noexcept {
    lock_.lock();
    --searching_;
    s->is_poller = !has_poller_;
    has_poller_ = true;
    s->next = sleepers_;
    sleepers_ = s;
    update_locked();
    lock_.unlock();
    return s->is_poller;
  }

  // After the last look found work: back to searching. False: somebody has taken this worker off
  // the list already, and has woken or will wake it.
  [[nodiscard]] bool cancel_sleep(Entry* s) noexcept {
    lock_.lock();
    bool found = false;
    for (Entry* i = sleepers_; i != nullptr; i = i->next) found |= i == s;
    if (found) take_off_locked(s);
    update_locked();
    lock_.unlock();
    return found;
  }

  // Runs f while all `workers` sleep and none is woken, or not at all: then false.
  template <class F>
  bool when_all_asleep(std::size_t workers, F f) {
    lock_.lock();
    std::size_t asleep = 0;
    for (const Entry* s = sleepers_; s != nullptr; s = s->next) ++asleep;
    const bool all = asleep == workers;
    if (all) f();
    lock_.unlock();
    return all;
  }

 private:
  // A sleeper that does not watch, if there is one: the place must not go deaf.
  Entry* take_locked() noexcept {
    Entry* chosen = sleepers_;
    for (Entry* s = sleepers_; s != nullptr; s = s->next) {
      if (!s->is_poller) {
        chosen = s;
        break;
      }
    }
    if (chosen != nullptr) take_off_locked(chosen);
    return chosen;
  }

  void take_off_locked(Entry* s) noexcept {
    remove_locked(s);
    if (s->is_poller) has_poller_ = false;
    ++searching_;
  }

  void remove_locked(Entry* s) noexcept {
    if (sleepers_ == s) {
      sleepers_ = s->next;
      return;
    }
    for (Entry* i = sleepers_; i != nullptr; i = i->next) {
      if (i->next == s) i->next = s->next;
    }
  }

  void update_locked() noexcept {
    wanted_.store(searching_ == 0 && sleepers_ != nullptr, base::relaxed);
  }

  base::atomic<bool> wanted_{false};
  base::spin_lock lock_;
  int searching_ = 0;
  bool has_poller_ = false;
  Entry* sleepers_ = nullptr;
};

}  // namespace apgas::inline v0::scheduler
