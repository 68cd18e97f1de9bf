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
template <class Seat>
class idle_list {
 public:
  // Whether a producer that made work visible must call take_sleeper(). Context: any thread.
  bool wanted() const noexcept {
    base::light_fence();  // P1
    return wanted_.load(base::relaxed);
  }

  // Nobody searches: takes the sleeper that shall, or null. The caller wakes it.
  [[nodiscard]] Seat* take_sleeper() noexcept {
    lock_.lock();
    Seat* s = searching_ == 0 ? take_locked() : nullptr;
    update_locked();
    lock_.unlock();
    return s;
  }

  // The sleeper that watches, or null: what it waits for has changed. The caller wakes it.
  [[nodiscard]] Seat* take_watcher() noexcept {
    lock_.lock();
    Seat* s = sleepers_;
    while (s != nullptr && !s->watching) s = s->next;
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
  bool watched() noexcept {
    lock_.lock();
    const bool is = watched_;
    lock_.unlock();
    return is;
  }

  // The worker found work. Returns the sleeper to wake by I4, or null.
  [[nodiscard]] Seat* end_search() noexcept {
    lock_.lock();
    --searching_;
    Seat* s = searching_ == 0 ? take_locked() : nullptr;
    update_locked();
    lock_.unlock();
    return s;
  }

  // The worker found nothing and will sleep, unless its last look after this finds something.
  // `watch`: it is asked to watch the network if nobody asleep does. True: it does watch.
  // The caller runs the heavy fence and then looks at every queue.
  bool announce_sleep(Seat* s) noexcept {
    lock_.lock();
    --searching_;
    s->watching = !watched_;
    watched_ = true;
    s->next = sleepers_;
    sleepers_ = s;
    update_locked();
    lock_.unlock();
    return s->watching;
  }

  // After the last look found work: back to searching. False: somebody has taken this worker off
  // the list already, and has woken or will wake it.
  [[nodiscard]] bool cancel_sleep(Seat* s) noexcept {
    lock_.lock();
    bool found = false;
    for (Seat* i = sleepers_; i != nullptr; i = i->next) found |= i == s;
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
    for (const Seat* s = sleepers_; s != nullptr; s = s->next) ++asleep;
    const bool all = asleep == workers;
    if (all) f();
    lock_.unlock();
    return all;
  }

 private:
  // A sleeper that does not watch, if there is one: the place must not go deaf.
  Seat* take_locked() noexcept {
    Seat* chosen = sleepers_;
    for (Seat* s = sleepers_; s != nullptr; s = s->next) {
      if (!s->watching) {
        chosen = s;
        break;
      }
    }
    if (chosen != nullptr) take_off_locked(chosen);
    return chosen;
  }

  void take_off_locked(Seat* s) noexcept {
    remove_locked(s);
    if (s->watching) watched_ = false;
    ++searching_;
  }

  void remove_locked(Seat* s) noexcept {
    if (sleepers_ == s) {
      sleepers_ = s->next;
      return;
    }
    for (Seat* i = sleepers_; i != nullptr; i = i->next) {
      if (i->next == s) i->next = s->next;
    }
  }

  void update_locked() noexcept {
    wanted_.store(searching_ == 0 && sleepers_ != nullptr, base::relaxed);
  }

  base::atomic<bool> wanted_{false};
  base::spin_lock lock_;
  int searching_ = 0;
  bool watched_ = false;
  Seat* sleepers_ = nullptr;
};

}  // namespace apgas::inline v0::scheduler
