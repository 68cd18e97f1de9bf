// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <apgas/async.hpp>
#include <apgas/at.hpp>
#include <apgas/base/atomic.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/place_local.hpp>
#include <apgas/places/glb_bag.hpp>
#include <apgas/places/glb_loot.hpp>
#include <apgas/places/glb_pace.hpp>
#include <apgas/places/glb_statistics.hpp>
#include <apgas/places/lifelines.hpp>
#include <apgas/promise.hpp>
#include <apgas/yield.hpp>

// One place of a glb: its bags, the tasks that process them, and the steal requests that wait.
//
// The place has a slot for each worker that participates. A slot is *idle*, or a task, its
// *runner*, processes its bag chunk by chunk. When a slot becomes idle again, it keeps its bag,
// which holds the result. After each chunk the runner reads one number: how many thieves want work.
// They are served in this order: idle slots of this place, steal requests of other places that wait
// for a reply, and places that a lifeline has remembered. Each gets half of the runner's tasks. So
// no bag is used by two tasks, and nothing polls. A place without runners which is not stealing has
// no task, so the finish around glb detects the end.
//
//              written by                              read by
//   wanted_    the lock holder                         runners, after each chunk
//   slots_     the runner of the slot; the task        its runner; after the finish any task
//              that took it from idle_
//   the rest   the lock holder                         the lock holder
//
// Invariants
//   I1  Each slot is in idle_ or has exactly one runner, from when it is taken until it retires.
//   I2  unassigned_ contains loot only while no slot is idle: a retiring runner looks there first.
//   I3  requests_ contains a request only while there is a runner: the last one to retire answers
//       all.
//   I4  At most one task of the place steals (lifelines.hpp), and it asks one place at a time.
//   I5  No member of a bag is called under the lock.
namespace apgas::inline v0::remote {

template <class Bag>
class glb_place {
 public:
  using handle = place_local<glb_place>;

  glb_place(lifelines protocol, std::size_t slots, std::size_t chunk)
      : lifelines_(std::move(protocol)) {
    slots_.reserve(slots);
    idle_.reserve(slots);
    for (std::size_t s = 0; s < slots; ++s) {
      slots_.emplace_back(chunk);
      idle_.push_back(s);
    }
    update_wanted();
  }

  // Processes loot, and then loot from other places, until this place is dormant or other tasks of
  // it have work.
  // Context: a task of the finish in glb(); may suspend.
  void take(const handle& all, std::unique_ptr<Bag> loot) {
    const std::optional<std::size_t> s = place_loot(loot);
    if (s) run(all, *s, std::move(loot));
  }

  // Processes loot from a lifeline that had remembered this place.
  // Context: as take().
  void on_lifeline_loot(const handle& all, int from, glb_loot<Bag>&& loot) {
    {
      const std::lock_guard hold(lock_);
      lifelines_.on_lifeline_loot(from);
      ++counts_.pieces_received;
    }
    take(all, std::make_unique<Bag>(std::move(loot).arrived()));
  }

  // Serves a steal request of place `thief`: returns loot, after a runner has finished its chunk,
  // or nothing if this place has no work.
  // Context: the body of an at, called by the thief; may suspend.
  std::optional<glb_loot<Bag>> serve_steal_request(int thief, bool by_lifeline) {
    request asked{thief, by_lifeline, nullptr, {}};
    bool waits = false;
    {
      const std::lock_guard hold(lock_);
      waits = is_working();
      if (waits) {
        requests_.push_back(&asked);
      } else if (by_lifeline) {
        lifelines_.remember(thief);
      }
      update_wanted();
    }
    if (waits) asked.answered.get_future().get();
    if (asked.loot == nullptr) return std::nullopt;
    return make_loot(std::move(*asked.loot));
  }

  // After the finish: the result of the tasks processed here, if there were any; and the
  // statistics.
  std::optional<glb_value<Bag>> result() const {
    std::optional<glb_value<Bag>> sum;
    for (const slot& s : slots_) {
      if (s.bag != nullptr) add_result<Bag>(sum, s.bag->result());
    }
    return sum;
  }
  glb_statistics statistics() const {
    glb_statistics sum = counts_;
    for (const slot& s : slots_) {
      sum.done += s.done;
      sum.chunks += s.chunks;
    }
    return sum;
  }

 private:
  struct slot {
    explicit slot(std::size_t chunk) : pace(chunk) {}
    std::unique_ptr<Bag> bag;
    glb_pace pace;
    std::uint64_t done = 0;
    std::uint64_t chunks = 0;
  };
  // A steal request. It is on the stack of the task in serve_steal_request().
  struct request {
    int thief;
    bool by_lifeline;
    std::unique_ptr<Bag> loot;  // the reply
    promise<void> answered;
  };
  // The thief that gets loot: one of these, or none of them.
  struct recipient {
    std::optional<std::size_t> slot;
    request* asked = nullptr;
    std::optional<int> remembered;
  };

  // ---- under the lock

  bool is_working() const noexcept { return idle_.size() < slots_.size(); }
  void update_wanted() noexcept {
    wanted_.store(idle_.size() + requests_.size() + lifelines_.remembered(), base::relaxed);
  }
  std::size_t take_idle() noexcept {
    const std::size_t s = idle_.back();
    idle_.pop_back();
    update_wanted();
    return s;
  }
  // Takes all requests, to be answered outside the lock with no loot.
  std::vector<request*> refuse() {
    for (const request* r : requests_) {
      if (r->by_lifeline) lifelines_.remember(r->thief);
    }
    std::vector<request*> all = std::exchange(requests_, {});
    update_wanted();
    return all;
  }

  // ---- receiving work

  // Takes an idle slot for the loot. If there is none, keeps the loot until a runner is done.
  std::optional<std::size_t> place_loot(std::unique_ptr<Bag>& loot) {
    const std::lock_guard hold(lock_);
    if (!idle_.empty()) return take_idle();
    unassigned_.push_back(std::move(loot));
    return std::nullopt;
  }
  static void put_in(slot& to, std::unique_ptr<Bag> loot) {
    if (to.bag == nullptr) {
      to.bag = std::move(loot);
    } else {
      merge_checked(*to.bag, std::move(*loot));
    }
  }

  // ---- processing

  void run(const handle& all, std::size_t s, std::unique_ptr<Bag> loot) {
    for (;;) {
      bool steals = false;
      while (loot != nullptr) {
        run_loot(all, slots_[s], std::move(loot));
        steals = retire(s, loot);
      }
      if (!steals) return;
      loot = steal(all);
      if (loot == nullptr) return;
      const std::optional<std::size_t> next = place_loot(loot);
      if (!next) return;
      s = *next;
    }
  }

  // An exception of the bag is given to the finish by a task of its own, and the bag is given up:
  // this task still has to answer waiting thieves.
  void run_loot(const handle& all, slot& mine, std::unique_ptr<Bag> loot) {
    std::exception_ptr failure;
    try {
      put_in(mine, std::move(loot));
      work_off(all, mine);
    } catch (...) {
      failure = std::current_exception();
    }
    if (failure == nullptr) return;
    mine.bag.reset();
    async([failure] { std::rethrow_exception(failure); });
  }

  void work_off(const handle& all, slot& mine) {
    for (;;) {
      const std::size_t n = mine.pace.chunk();
      mine.pace.begin();
      const std::size_t done = mine.bag->process(n);
      mine.pace.end();
      if (done > n) throw_too_many_done(n, done);
      mine.done += done;
      ++mine.chunks;
      if (done < n) return;
      while (wanted_.load(base::relaxed) != 0 && share(all, mine)) {
      }
      yield();  // steal requests are tasks, which need a worker
    }
  }

  // Ends the work of a slot: it becomes idle, or gets loot that was kept. Returns true if the
  // caller must steal: there is no loot, and no runner that could produce some.
  bool retire(std::size_t s, std::unique_ptr<Bag>& loot) {
    std::vector<request*> refused;
    bool steals = false;
    {
      const std::lock_guard hold(lock_);
      if (!unassigned_.empty()) {  // I2
        loot = std::move(unassigned_.back());
        unassigned_.pop_back();
        return false;
      }
      idle_.push_back(s);
      if (!is_working()) {
        refused = refuse();
        steals = !std::exchange(stealing_, true);
        if (steals) lifelines_.on_out_of_work();
      }
      update_wanted();
    }
    for (request* r : refused) r->answered.set_value();
    return steals;
  }

  // ---- giving work away

  // Gives half of the bag to a thief. Returns false if the bag cannot be split now.
  bool share(const handle& all, slot& mine) {
    std::optional<Bag> half = split_checked(*mine.bag);
    if (!half) {
      std::vector<request*> refused;
      {
        const std::lock_guard hold(lock_);
        refused = refuse();
      }
      for (request* r : refused) r->answered.set_value();
      return false;
    }
    auto loot = std::make_unique<Bag>(*std::move(half));
    const recipient t = next_recipient(loot);
    if (t.slot) {
      async([this, all, s = *t.slot, p = std::move(loot)]() mutable { run(all, s, std::move(p)); });
    } else if (t.asked != nullptr) {
      t.asked->loot = std::move(loot);
      t.asked->answered.set_value();
    } else if (t.remembered) {
      async_at(
          trusted_place(*t.remembered),
          [all](int from, glb_loot<Bag>&& given) {
            all->on_lifeline_loot(all, from, std::move(given));
          },
          here().id(), make_loot(std::move(*loot)));
    }
    return true;
  }

  // Chooses the thief. If another runner was faster and no thief is left, keeps the loot.
  recipient next_recipient(std::unique_ptr<Bag>& loot) {
    recipient t;
    const std::lock_guard hold(lock_);
    if (!idle_.empty()) {
      t.slot = take_idle();
      ++counts_.shared;
    } else if (!requests_.empty()) {
      t.asked = requests_.front();
      requests_.erase(requests_.begin());
      ++counts_.pieces_sent;
    } else if (lifelines_.remembered() != 0) {
      t.remembered = lifelines_.take_remembered();
      ++counts_.pieces_sent;
    } else {
      unassigned_.push_back(std::move(loot));
    }
    update_wanted();
    return t;
  }

  // ---- stealing

  // Asks other places until one gives loot, until work arrives through a lifeline, or until all
  // were asked.
  std::unique_ptr<Bag> steal(const handle& all) {
    for (;;) {
      const lifelines::attempt q = next_attempt();
      if (q.kind == lifelines::how::nowhere) return nullptr;
      std::optional<glb_loot<Bag>> loot;
      try {
        loot = at(
            trusted_place(q.victim),
            [all](int thief, bool by_lifeline) {
              return all->serve_steal_request(thief, by_lifeline);
            },
            here().id(), q.kind == lifelines::how::by_lifeline);
        if (loot) static_cast<void>(std::move(*loot).arrived());  // throws
      } catch (...) {
        const std::lock_guard hold(lock_);
        stealing_ = false;
        throw;
      }
      const std::lock_guard hold(lock_);
      lifelines_.on_answer(q, loot.has_value());
      if (!loot) {
        ++counts_.refused;
        continue;
      }
      ++counts_.pieces_received;
      stealing_ = false;
      return std::make_unique<Bag>(std::move(loot->bag));
    }
  }

  // The next place to ask; of kind `nowhere` if this place must stop.
  lifelines::attempt next_attempt() {
    const std::lock_guard hold(lock_);
    lifelines::attempt q;
    if (!is_working()) {
      q = lifelines_.next();
      counts_.asked_at_random += q.kind == lifelines::how::at_random ? 1 : 0;
      counts_.asked_lifelines += q.kind == lifelines::how::by_lifeline ? 1 : 0;
      counts_.dormant += q.kind == lifelines::how::nowhere ? 1 : 0;
    }
    if (q.kind == lifelines::how::nowhere) stealing_ = false;
    return q;
  }

  base::atomic<std::size_t> wanted_{0};
  std::vector<slot> slots_;

  base::spin_lock lock_;
  lifelines lifelines_;
  std::vector<std::size_t> idle_;  // indices of slots
  std::vector<std::unique_ptr<Bag>> unassigned_;
  std::vector<request*> requests_;
  bool stealing_ = false;
  glb_statistics counts_;
};

}  // namespace apgas::inline v0::remote
