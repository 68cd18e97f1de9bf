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
#include <apgas/places/glb_pace.hpp>
#include <apgas/places/glb_loot.hpp>
#include <apgas/places/glb_statistics.hpp>
#include <apgas/places/lifelines.hpp>
#include <apgas/promise.hpp>
#include <apgas/yield.hpp>

// The part of one place in a glb: its bags, the tasks that work them off, and what others want.
//
// A place has a slot for each worker that takes part. A slot is *idle*, or a *runner*, a task,
// works its bag off, chunk by chunk; it keeps its bag, with the result, when it is idle again.
// After each chunk a runner looks at one number: how many want work. These are, in the order in
// which they are served: idle slots here, places that have asked and wait for the answer, places
// remembered by a lifeline. Each gets half of what the runner has. So no bag is touched by two
// tasks, nobody polls, and a place without runners and seeker has no task: the finish around glb
// sees the end.
//
//              written by                 read by
//   wanted_    lock holder                runners, after each chunk
//   slots_     runner of the slot;        its runner; everybody after the finish
//              who took it from idle_
//   the rest   lock holder                lock holder
//
// Invariants
//   I1  A slot is in idle_ or has one runner, from the moment it is taken until it is retired.
//   I2  A piece is in spare_ only while there is no idle slot: who retires looks there first.
//   I3  A request is in requests_ only while there is a runner: the last that retires answers all.
//   I4  At most one task seeks (lifelines.hpp), and asks one place at a time.
//   I5  No code of a bag runs under the lock.
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

  // Works a piece off, then what there is elsewhere, until this place is dormant or other tasks of
  // it work. Context: a task of the finish of glb. May suspend.
  void take(const handle& all, std::unique_ptr<Bag> loot) {
    const std::optional<std::size_t> s = place_loot(loot);
    if (s) run(all, *s, std::move(loot));
  }

  // A piece from a lifeline that remembered this place. Context: as take.
  void on_lifeline_loot(const handle& all, int from, glb_loot<Bag>&& loot) {
    {
      const std::lock_guard hold(lock_);
      lifelines_.on_lifeline_loot(from);
      ++counts_.pieces_received;
    }
    take(all, std::make_unique<Bag>(std::move(loot).arrived()));
  }

  // What there is for `thief`, once a runner has looked up. Context: a task of an `at`.
  std::optional<glb_loot<Bag>> ask(int thief, bool by_lifeline) {
    request asked{thief, by_lifeline, nullptr, {}};
    bool waits = false;
    {
      const std::lock_guard hold(lock_);
      waits = works();
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

  // After the finish: the result of what was done here, if anything was; and the counts.
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
  // Lives on the stack of the task that asks.
  struct request {
    int thief;
    bool by_lifeline;
    std::unique_ptr<Bag> loot;  // the answer
    promise<void> answered;
  };
  // Who gets a piece: one of these, or nobody.
  struct taker {
    std::optional<std::size_t> slot;
    request* asked = nullptr;
    std::optional<int> remembered;
  };

  // ---- under the lock

  bool works() const noexcept { return idle_.size() < slots_.size(); }
  void update_wanted() noexcept {
    wanted_.store(idle_.size() + requests_.size() + lifelines_.remembered(), base::relaxed);
  }
  std::size_t take_idle() noexcept {
    const std::size_t s = idle_.back();
    idle_.pop_back();
    update_wanted();
    return s;
  }
  // Takes all requests, to be answered with nothing outside the lock.
  std::vector<request*> refuse() {
    for (const request* r : requests_) {
      if (r->by_lifeline) lifelines_.remember(r->thief);
    }
    std::vector<request*> all = std::exchange(requests_, {});
    update_wanted();
    return all;
  }

  // ---- work comes

  // An idle slot for a piece; or the piece is kept until a runner is done.
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

  // ---- work is done

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

  // What the bag throws goes to the finish by a task of its own, and the bag is given up: this one
  // still has to answer those who wait.
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
      yield();  // those who ask are tasks that have to run
    }
  }

  // The slot is idle, or has a piece that was kept. True for the task that has to seek: there is no
  // piece, and no runner that could make one.
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
      if (!works()) {
        refused = refuse();
        steals = !std::exchange(stealing_, true);
        if (steals) lifelines_.on_dry();
      }
      update_wanted();
    }
    for (request* r : refused) r->answered.set_value();
    return steals;
  }

  // ---- work goes

  // Gives half of a bag to somebody. False: it cannot be split now.
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
    const taker t = next_taker(loot);
    if (t.slot) {
      async(
          [this, all, s = *t.slot, p = std::move(loot)]() mutable { run(all, s, std::move(p)); });
    } else if (t.asked != nullptr) {
      t.asked->loot = std::move(loot);
      t.asked->answered.set_value();
    } else if (t.remembered) {
      async_at(
          trusted_place(*t.remembered),
          [all](int from, glb_loot<Bag>&& given) { all->on_lifeline_loot(all, from, std::move(given)); },
          here().id(), make_loot(std::move(*loot)));
    }
    return true;
  }

  // Nobody: another runner was faster, and the piece is kept.
  taker next_taker(std::unique_ptr<Bag>& loot) {
    taker t;
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

  // ---- work is sought

  // Asks until somebody gives, or work came by itself, or everybody was asked.
  std::unique_ptr<Bag> steal(const handle& all) {
    for (;;) {
      const lifelines::question q = next_question();
      if (q.kind == lifelines::how::nobody) return nullptr;
      std::optional<glb_loot<Bag>> loot;
      try {
        loot = at(
            trusted_place(q.victim),
            [all](int thief, bool by_lifeline) { return all->ask(thief, by_lifeline); },
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

  // Of nobody when this place is to stop asking.
  lifelines::question next_question() {
    const std::lock_guard hold(lock_);
    lifelines::question q;
    if (!works()) {
      q = lifelines_.next();
      counts_.asked_at_random += q.kind == lifelines::how::at_random ? 1 : 0;
      counts_.asked_lifelines += q.kind == lifelines::how::by_lifeline ? 1 : 0;
      counts_.dormant += q.kind == lifelines::how::nobody ? 1 : 0;
    }
    if (q.kind == lifelines::how::nobody) stealing_ = false;
    return q;
  }

  base::atomic<std::size_t> wanted_{0};
  std::vector<slot> slots_;

  base::spin_lock lock_;
  lifelines lifelines_;
  std::vector<std::size_t> idle_;  // slots
  std::vector<std::unique_ptr<Bag>> unassigned_;
  std::vector<request*> requests_;
  bool stealing_ = false;
  glb_statistics counts_;
};

}  // namespace apgas::inline v0::remote
