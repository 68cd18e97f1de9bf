// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <apgas/base/atomic.hpp>
#include <apgas/base/cache_line.hpp>
#include <apgas/base/spin_lock.hpp>

// The idle list: it knows how many workers search for work and which workers sleep, and decides
// which sleeping worker is woken. docs/protocols/idle.md describes the protocol.
//
//               written by                read by
//   wanted_     lock holder               any producer of work
//   searching_  lock holder               lock holder
//   sleepers_   lock holder               lock holder; likewise asleep_, poller_ and the entries
//
// One sleeping worker has the role of the poller: it wakes up to poll the network and the timers.
// No operation walks the list, so the lock is held for a few instructions however many sleep.
//
// Invariants
//   I1  wanted_ is true exactly if no worker searches and at least one sleeps. Only then a producer
//       must wake a worker.
//   I2  If a queue contains visible work, then some worker searches, or no worker sleeps, or the
//       producer of the work is about to call notify(), or a worker that is going to sleep is still
//       about to check the queues for the last time.
//   I3  The thread that removes a worker from the list also counts that worker as searching.
//   I4  A worker that finds work and was the last one to search wakes another worker. There may be
//       more work, whose producer did not wake anybody because this worker was searching. The
//       worker that is woken also becomes the poller when it sleeps again, if there is no sleeping
//       poller then.
//
// Pairs
//   P1  A producer makes work visible, executes the light fence and loads wanted_. A worker that
//       goes to sleep stores wanted_, or loads under the lock what it would store, executes the
//       heavy fence and checks all queues. At least one of the two sees the store of the other.
//
// Three rules are optimisations only: a producer wakes one worker at a time; a worker that was
// woken and has stolen wakes two, so that the number of those awake doubles with each wake-up; and
// the sleeping poller is woken for a task only if no other worker sleeps.
namespace apgas::inline v0::scheduler {

// Entry is the type of a worker's entry in the list. It must have members `Entry* next`, `Entry*
// previous` and `bool listed`, which the list alone uses; at first `listed` is false.
template <class Entry>
class idle_list {
 public:
  // Returns whether a producer that has made work visible must call take_sleeper().
  // Context: any thread.
  bool wanted() const noexcept {
    base::light_fence();  // P1
    return wanted_.load(base::relaxed);
  }

  // If no worker searches, removes a sleeping worker from the list and returns it, so that the
  // caller wakes it; otherwise returns null.
  // Context: any thread.
  [[nodiscard]] Entry* take_sleeper() noexcept {
    lock_.lock();
    Entry* s = searching_ == 0 ? take_locked() : nullptr;
    update_locked();
    lock_.unlock();
    return s;
  }

  // Removes the sleeping poller from the list and returns it, or null if there is none. The caller
  // wakes it, because the time until which it may sleep has changed.
  // Context: any thread.
  [[nodiscard]] Entry* take_sleeping_poller() noexcept {
    lock_.lock();
    Entry* const s = poller_;
    if (s != nullptr) take_off_locked(s);
    update_locked();
    lock_.unlock();
    return s;
  }

  // The calling worker begins to search.
  void begin_search() noexcept {
    lock_.lock();
    ++searching_;
    update_locked();
    lock_.unlock();
  }

  // Returns whether there is a sleeping poller, which will notice arriving messages.
  bool has_poller() noexcept {
    lock_.lock();
    const bool is = poller_ != nullptr;
    lock_.unlock();
    return is;
  }

  // Returns whether a worker counts as searching: it polls the network as soon as it runs. It may
  // stop searching at any time.
  bool anyone_searches() noexcept {
    lock_.lock();
    const bool is = searching_ != 0;
    lock_.unlock();
    return is;
  }

  // The calling worker has found work. Returns the workers that the caller must wake, or null in
  // their places: one by I4, or, if `wakes_two`, up to two whether others search or not.
  [[nodiscard]] std::array<Entry*, 2> end_search(bool wakes_two = false) noexcept {
    std::array<Entry*, 2> taken{};
    lock_.lock();
    --searching_;
    if (wakes_two || searching_ == 0) taken[0] = take_locked();
    if (wakes_two) taken[1] = take_locked();
    update_locked();
    lock_.unlock();
    return taken;
  }

  // The calling worker has found nothing and is going to sleep. It becomes the poller if there is
  // no sleeping poller; returns whether it does. The caller must then execute the heavy fence and
  // check every queue once more; if it finds work, it calls cancel_sleep().
  bool announce_sleep(Entry* s) noexcept {
    lock_.lock();
    --searching_;
    add_locked(s);
    const bool becomes_poller = poller_ == nullptr;
    if (becomes_poller) poller_ = s;
    update_locked();
    lock_.unlock();
    return becomes_poller;
  }

  // The calling worker does not sleep after all: removes it from the list and counts it as
  // searching. Returns false if another thread has removed it already; that thread unparks it.
  [[nodiscard]] bool cancel_sleep(Entry* s) noexcept {
    lock_.lock();
    const bool found = s->listed;
    if (found) take_off_locked(s);
    update_locked();
    lock_.unlock();
    return found;
  }

  // Returns whether this worker sleeps.
  bool sleeps(const Entry* of) noexcept {
    lock_.lock();
    const bool is = of->listed;
    lock_.unlock();
    return is;
  }

  // If all `workers` sleep, runs f while none of them can be woken, so that none runs a task.
  // Returns whether it did. The poller may nevertheless poll meanwhile, as may other threads.
  // Throws: what f throws.
  template <class F>
  bool when_all_asleep(std::size_t workers, F f) {
    struct unlock_at_end {
      base::spin_lock& lock;
      ~unlock_at_end() { lock.unlock(); }
    };
    lock_.lock();
    const unlock_at_end held{lock_};
    const bool all = asleep_ == workers;
    if (all) f();
    return all;
  }

 private:
  // Prefers a worker that is not the poller, so that the place goes on noticing messages.
  Entry* take_locked() noexcept {
    Entry* chosen = sleepers_;
    if (chosen != nullptr && chosen == poller_ && chosen->next != nullptr) chosen = chosen->next;
    if (chosen != nullptr) take_off_locked(chosen);
    return chosen;
  }

  void take_off_locked(Entry* s) noexcept {
    remove_locked(s);
    if (s == poller_) poller_ = nullptr;
    ++searching_;
  }

  void add_locked(Entry* s) noexcept {
    s->listed = true;
    s->previous = nullptr;
    s->next = sleepers_;
    if (sleepers_ != nullptr) sleepers_->previous = s;
    sleepers_ = s;
    ++asleep_;
  }

  void remove_locked(Entry* s) noexcept {
    s->listed = false;
    (s->previous != nullptr ? s->previous->next : sleepers_) = s->next;
    if (s->next != nullptr) s->next->previous = s->previous;
    --asleep_;
  }

  // Stores wanted_ only if it changes, which it seldom does while workers begin and end searches.
  // So the copies that all producers have of its line stay valid.
  void update_locked() noexcept {
    const bool wanted = searching_ == 0 && sleepers_ != nullptr;
    if (wanted_.load(base::relaxed) != wanted) wanted_.store(wanted, base::relaxed);
  }

  alignas(base::cache_line_bytes) base::atomic<bool> wanted_{false};
  alignas(base::cache_line_bytes) base::spin_lock lock_;
  int searching_ = 0;
  std::size_t asleep_ = 0;  // the length of the list
  Entry* sleepers_ = nullptr;
  Entry* poller_ = nullptr;  // the entry of the sleeping poller
};

}  // namespace apgas::inline v0::scheduler
