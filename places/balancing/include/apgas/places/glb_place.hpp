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
      : lines_(std::move(protocol)) {
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
  void take(const handle& all, std::unique_ptr<Bag> piece) {
    const std::optional<std::size_t> s = place_piece(piece);
    if (s) run(all, *s, std::move(piece));
  }

  // A piece from a lifeline that remembered this place. Context: as take.
  void on_gift(const handle& all, int from, glb_piece<Bag>&& piece) {
    {
      const std::lock_guard hold(lock_);
      lines_.on_gift(from);
      ++counts_.pieces_received;
    }
    take(all, std::make_unique<Bag>(std::move(piece).arrived()));
  }

  // What there is for `thief`, once a runner has looked up. Context: a task of an `at`.
  std::optional<glb_piece<Bag>> ask(int thief, bool by_lifeline) {
    request asked{thief, by_lifeline, nullptr, {}};
    bool waits = false;
    {
      const std::lock_guard hold(lock_);
      waits = works();
      if (waits) {
        requests_.push_back(&asked);
      } else if (by_lifeline) {
        lines_.remember(thief);
      }
      update_wanted();
    }
    if (waits) asked.answered.get_future().get();
    if (asked.piece == nullptr) return std::nullopt;
    return make_piece(std::move(*asked.piece));
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
    std::unique_ptr<Bag> piece;  // the answer
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
    wanted_.store(idle_.size() + requests_.size() + lines_.remembered(), base::relaxed);
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
      if (r->by_lifeline) lines_.remember(r->thief);
    }
    std::vector<request*> all = std::exchange(requests_, {});
    update_wanted();
    return all;
  }

  // ---- work comes

  // An idle slot for a piece; or the piece is kept until a runner is done.
  std::optional<std::size_t> place_piece(std::unique_ptr<Bag>& piece) {
    const std::lock_guard hold(lock_);
    if (!idle_.empty()) return take_idle();
    spare_.push_back(std::move(piece));
    return std::nullopt;
  }
  static void put_in(slot& to, std::unique_ptr<Bag> piece) {
    if (to.bag == nullptr) {
      to.bag = std::move(piece);
    } else {
      merge_checked(*to.bag, std::move(*piece));
    }
  }

  // ---- work is done

  void run(const handle& all, std::size_t s, std::unique_ptr<Bag> piece) {
    for (;;) {
      bool seeks = false;
      while (piece != nullptr) {
        run_piece(all, slots_[s], std::move(piece));
        seeks = retire(s, piece);
      }
      if (!seeks) return;
      piece = seek(all);
      if (piece == nullptr) return;
      const std::optional<std::size_t> next = place_piece(piece);
      if (!next) return;
      s = *next;
    }
  }

  // What the bag throws goes to the finish by a task of its own, and the bag is given up: this one
  // still has to answer those who wait.
  void run_piece(const handle& all, slot& mine, std::unique_ptr<Bag> piece) {
    std::exception_ptr failure;
    try {
      put_in(mine, std::move(piece));
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
  bool retire(std::size_t s, std::unique_ptr<Bag>& piece) {
    std::vector<request*> refused;
    bool seeks = false;
    {
      const std::lock_guard hold(lock_);
      if (!spare_.empty()) {  // I2
        piece = std::move(spare_.back());
        spare_.pop_back();
        return false;
      }
      idle_.push_back(s);
      if (!works()) {
        refused = refuse();
        seeks = !std::exchange(seeking_, true);
        if (seeks) lines_.on_dry();
      }
      update_wanted();
    }
    for (request* r : refused) r->answered.set_value();
    return seeks;
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
    auto piece = std::make_unique<Bag>(*std::move(half));
    const taker t = next_taker(piece);
    if (t.slot) {
      async(
          [this, all, s = *t.slot, p = std::move(piece)]() mutable { run(all, s, std::move(p)); });
    } else if (t.asked != nullptr) {
      t.asked->piece = std::move(piece);
      t.asked->answered.set_value();
    } else if (t.remembered) {
      async_at(
          trusted_place(*t.remembered),
          [all](int from, glb_piece<Bag>&& gift) { all->on_gift(all, from, std::move(gift)); },
          here().id(), make_piece(std::move(*piece)));
    }
    return true;
  }

  // Nobody: another runner was faster, and the piece is kept.
  taker next_taker(std::unique_ptr<Bag>& piece) {
    taker t;
    const std::lock_guard hold(lock_);
    if (!idle_.empty()) {
      t.slot = take_idle();
      ++counts_.shared;
    } else if (!requests_.empty()) {
      t.asked = requests_.front();
      requests_.erase(requests_.begin());
      ++counts_.pieces_sent;
    } else if (lines_.remembered() != 0) {
      t.remembered = lines_.take_remembered();
      ++counts_.pieces_sent;
    } else {
      spare_.push_back(std::move(piece));
    }
    update_wanted();
    return t;
  }

  // ---- work is sought

  // Asks until somebody gives, or work came by itself, or everybody was asked.
  std::unique_ptr<Bag> seek(const handle& all) {
    for (;;) {
      const lifelines::question q = next_question();
      if (q.kind == lifelines::how::nobody) return nullptr;
      std::optional<glb_piece<Bag>> piece;
      try {
        piece = at(
            trusted_place(q.victim),
            [all](int thief, bool by_lifeline) { return all->ask(thief, by_lifeline); },
            here().id(), q.kind == lifelines::how::by_lifeline);
        if (piece) static_cast<void>(std::move(*piece).arrived());  // throws
      } catch (...) {
        const std::lock_guard hold(lock_);
        seeking_ = false;
        throw;
      }
      const std::lock_guard hold(lock_);
      lines_.on_answer(q, piece.has_value());
      if (!piece) {
        ++counts_.refused;
        continue;
      }
      ++counts_.pieces_received;
      seeking_ = false;
      return std::make_unique<Bag>(std::move(piece->bag));
    }
  }

  // Of nobody when this place is to stop asking.
  lifelines::question next_question() {
    const std::lock_guard hold(lock_);
    lifelines::question q;
    if (!works()) {
      q = lines_.next();
      counts_.asked_at_random += q.kind == lifelines::how::at_random ? 1 : 0;
      counts_.asked_lifelines += q.kind == lifelines::how::by_lifeline ? 1 : 0;
      counts_.dormant += q.kind == lifelines::how::nobody ? 1 : 0;
    }
    if (q.kind == lifelines::how::nobody) seeking_ = false;
    return q;
  }

  base::atomic<std::size_t> wanted_{0};
  std::vector<slot> slots_;

  base::spin_lock lock_;
  lifelines lines_;
  std::vector<std::size_t> idle_;  // slots
  std::vector<std::unique_ptr<Bag>> spare_;
  std::vector<request*> requests_;
  bool seeking_ = false;
  glb_statistics counts_;
};

}  // namespace apgas::inline v0::remote
