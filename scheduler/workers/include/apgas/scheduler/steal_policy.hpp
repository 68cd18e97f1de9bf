// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

// The decisions of a worker that looks for work: which of its queues goes first, whom it steals
// from, how many tasks it takes, and how long it pauses after a steal that did not pay. They are
// values and functions without side effects, so that the simulation of tests/sim/scaling decides
// for a thousand workers as the scheduling loop does for those of this host. All times are in
// cycles.
namespace apgas::inline v0::scheduler {

// The number of tasks that a thief takes at most.
inline constexpr std::size_t steal_most = 8;

// A victim that pushes and pops tasks answers a thief within a fraction of a microsecond. After
// this long, the thief assumes that the victim runs a long task, and pays for a heavy fence. That
// interrupts all other cores, so the thief waits longer if there are more of them: for about as
// long as the fence costs all workers together.
constexpr std::uint64_t answer_patience_cycles(int workers) noexcept {
  return std::max<std::uint64_t>(4'000, 500 * static_cast<std::uint64_t>(workers));
}

// A resumed task will most likely continue soon on its own worker, with its stack in the caches
// there. So thieves take resumed tasks only if there have been some for this long. At the end of a
// phase all workers get tasks, and those that have run theirs disturb the others by their requests.
// So they wait longer if there are more workers, but not as long as until they sleep.
constexpr std::uint64_t resumed_patience_cycles(std::size_t workers) noexcept {
  return std::clamp<std::uint64_t>(750 * workers, 6'000, 45'000);
}

// To see whether there are any, a thief reads a line of each worker. With up to nine workers it
// does so in each round of its search. With more, it looks so rarely that this takes about half of
// its time at most, and with 1,024 workers still once before it sleeps.
constexpr std::uint64_t look_for_resumed_after(std::size_t workers) noexcept {
  return workers <= 9 ? 0 : 50 * workers;
}

// While a worker counts as searching, producers need not wake another one. All workers are counted
// on one cache line, and most searches end soon. So with more than nine workers, a worker counts
// only after 32 rounds in vain, before it may sleep. Until then nobody relies on it; but tasks that
// it steals are in no queue for a moment, so it calls notify() then.
constexpr bool counts_as_searching_at_once(int workers) noexcept { return workers <= 9; }

// How long a worker looks for work before it sleeps, where APGAS_IDLE is `usual`. One that has run
// tasks of a clock since it last slept will most likely get them again. With many workers a phase
// may last longer than usual, and if some sleep in each phase, the others wait for them. The more
// workers there are, the longer a phase lasts, and the more of them a sleep interrupts. So the time
// is 100 us with 64 workers, and grows with their number, unless APGAS_IDLE is longer.
constexpr std::chrono::nanoseconds idle_time(std::chrono::nanoseconds usual, int workers,
                                             bool in_lock_step) noexcept {
  if (workers <= 16 || !in_lock_step) return usual;
  const int weight = std::max(workers, 64);
  const std::chrono::nanoseconds most = std::chrono::microseconds(100) * weight / 64;
  return std::max(usual, std::min(usual * 5 * weight / 64, most));
}

// With so many tasks of one spawner in the deque of its worker, the spawner gives way to them
// (drain.cpp). Fewer are not worth two switches, and twice as many slots are half of a first-level
// cache. But while the worker runs one of them, the spawner adds none. The others must last for
// that time, so with many thieves there must be some for each thief.
constexpr std::ptrdiff_t drain_least(int workers) noexcept {
  return std::max<std::ptrdiff_t>(128, std::ptrdiff_t{4} * workers);
}

// A short task that a thief has taken ends soon. Leaving the fiber meanwhile, and going on with it
// on the core of the thief, costs more than such a task. So a worker with nothing else to do waits
// for this many cycles before it leaves the fiber. With one worker there is no thief.
inline constexpr std::uint64_t end_is_near_cycles = 2'000;

// Every sixteenth choice of a scheduling loop is preceded by a poll of network and timers, and
// every fourth prefers tasks from outside the workers.
constexpr bool polls_first(std::uint64_t choice) noexcept { return (choice & 15U) == 0; }
constexpr bool outside_first(std::uint64_t choice) noexcept { return (choice & 3U) == 0; }

// Every fourth choice also prefers the oldest task in the deque of the worker, which makes yield()
// fair. In a recursion whose tasks wait for their children that task is the root of another
// subtree, and all tasks that wait meanwhile keep their stacks. So a worker that lacks free stacks
// goes on with what has been resumed and with the newest task, whose end frees some, and prefers
// the oldest one rarely. These are not the choices that prefer other work, which may never run out.
constexpr bool oldest_first(std::uint64_t choice, bool has_free_stacks) noexcept {
  return (choice & (has_free_stacks ? 3U : 63U)) == 2;
}

// A continuation of a spawner, which waits for the tasks above it, counts as oldest at these only.
constexpr bool continuation_too(std::uint64_t choice) noexcept { return (choice & 255U) == 2; }
// What a task that yields waits for may be ready at a worker that is busy with a long task, and a
// worker whose tasks yield has no reason to search. So it steals at every 64th choice, too.
constexpr bool steals_first(std::uint64_t choice) noexcept { return (choice & 63U) == 33; }

// When a worker may steal again. A steal costs thief and victim some cache misses, and if the
// victim did not answer, the time of a heavy fence (2 us on one host, 10 us on another). If the
// stolen tasks took less time than that, two workers would exchange cache lines of tiny tasks and
// be slower than one. So the thief then pauses before the next steal, for longer the less the steal
// has paid. Tasks that are worth stealing end the pauses.
//
// What a steal has paid is the time of the tasks themselves. Their ends do not count: each updates
// the counter of a finish, and while many thieves do that, it takes longer than a short task. A
// thief of an unbalanced tree mostly finds leaves, and seldom a large subtree that makes up for
// them. So the last steals count together.
// Context: owner.
class steal_pace {
 public:
  // The worker has stolen `tasks` between the times `begun` and `now`, with a heavy fence or
  // without.
  void stole(std::size_t tasks, std::uint64_t begun, std::uint64_t now, bool fenced) noexcept {
    stolen_at_ = now;
    unknown_ = tasks;
    worked_ = 0;
    cost_ = std::max(now - begun, fenced ? fenced_cost_least : cost_least);
  }

  // Returns whether worked() must be called for the tasks of the worker.
  bool awaits_work() const noexcept { return stolen_at_ != 0; }
  // A task of the worker has run for `time` to its end, and was not suspended.
  void worked(std::uint64_t time) noexcept {
    worked_ += time;
    if (unknown_ != 0) --unknown_;
  }

  // Evaluates the last steal, and returns whether the pause after it is over. `workers` is the
  // number of workers of the place.
  bool may_steal(std::uint64_t now, int workers) noexcept {
    if (stolen_at_ != 0) {
      const std::uint64_t ran = unknown_ == 0 ? worked_ : now - stolen_at_;
      paid_ = paid_ - paid_ / mean_of + ran / mean_of;
      pause_ = pause_after(std::max(ran, paid_), workers);
      again_at_ = now + pause_;
      stolen_at_ = 0;
    }
    return now >= again_at_;
  }

  // Returns whether the last pause is over.
  bool pause_is_over(std::uint64_t now) const noexcept { return now >= again_at_; }

 private:
  static constexpr std::uint64_t cost_least = 900;           // the assumed cost of a steal
  static constexpr std::uint64_t fenced_cost_least = 8'000;  // the same with a heavy fence
  static constexpr std::uint64_t pause_most = 256'000;       // for each worker of the place
  static constexpr std::uint64_t pause_growth = 4;           // from one pause to the next, at most
  static constexpr std::uint64_t loss_weight = 32;           // of the ratio of cost and benefit
  static constexpr std::uint64_t mean_of = 4;                // steals

  // Returns the pause after a steal that paid for `ran` cycles.
  std::uint64_t pause_after(std::uint64_t ran, int workers) const noexcept {
    const std::uint64_t cost = std::min(cost_, pause_most);  // the thief may have been interrupted
    if (ran >= cost) return pause_ / pause_growth < cost ? 0 : pause_ / pause_growth;
    const std::uint64_t longest =
        std::min(pause_most * static_cast<unsigned>(workers),
                 loss_weight * cost * cost / std::max<std::uint64_t>(ran, 1));
    return std::min(longest, pause_ == 0 ? cost : pause_ * pause_growth);
  }

  std::uint64_t stolen_at_ = 0;  // the time of the last steal; 0 once it was evaluated
  std::uint64_t worked_ = 0;     // the time of the tasks since then
  std::uint64_t paid_ = 0;       // by the last steals on average, the last one weighing most
  std::size_t unknown_ = 0;      // of the stolen tasks, those that are not part of it
  std::uint64_t cost_ = 0;       // of the last steal
  std::uint64_t again_at_ = 0;   // no steal before this time
  std::uint64_t pause_ = 0;      // between the last steal and the next
};

// Whom a thief visits. A round of a search visits a few victims: the one that had tasks last, then
// near and random others in turn. After rounds in vain the thief visits fewer of them in the same
// time: otherwise hundreds of thieves that look at the few workers with tasks would keep the cache
// lines from these. With up to nine workers each round visits all, nearest first, without a break.
//
// A thief that has work itself visits all others in turn, so that none of them, with tasks that
// never end, hides another one.
// Context: owner.
class victim_order {
 public:
  victim_order() = default;
  // For worker `id` of `workers`. between(a, b) tells how near two workers are; larger is nearer.
  template <class Nearness>
  victim_order(int id, int workers, Nearness between)
      : random_(0x9e3779b97f4a7c15 * (static_cast<unsigned>(id) + 1)) {
    for (int k = 1; k < workers; ++k) others_.push_back((id + k) % workers);
    std::ranges::stable_sort(others_,
                             [&](int a, int b) { return between(id, a) > between(id, b); });
  }

  // Begins a round, and returns how many victims it visits: none during the break after a round.
  std::size_t begin_round(std::uint64_t now) noexcept {
    if (visits_all()) return others_.size();
    if (now < rests_until_) return 0;
    round_[0] = first_;
    for (std::size_t i = 1; i < visits; ++i) {
      round_[i] = draw(i % 2 == 0 ? others_.size() : near);
    }
    return visits;
  }
  // The i-th victim of the round.
  int operator[](std::size_t i) const noexcept {
    return others_[visits_all() ? (first_ + i) % others_.size() : round_[i]];
  }

  // The i-th had tasks.
  void found(std::size_t i) noexcept {
    first_ = visits_all() ? (first_ + i) % others_.size() : round_[i];
    in_vain_ = 0;
  }
  // None had.
  void found_none(std::uint64_t now) noexcept {
    first_ = 0;
    if (visits_all()) return;
    in_vain_ = std::min<std::uint64_t>(in_vain_ + 1, others_.size() / visits);
    rests_until_ = now + in_vain_ * rest_after_round;
  }

  struct visit {
    int worker;
    bool resumed_too;  // mostly they wait only for a moment, so in every eighth turn
  };
  // The next visit of a thief that has work itself. Requires: there are others.
  visit next_in_turn() noexcept {
    const std::uint64_t v = in_turn_++;
    return {others_[v % others_.size()], v / others_.size() % 8 == 0};
  }

  // All others, nearest first.
  const std::vector<int>& all() const noexcept { return others_; }

 private:
  static constexpr std::size_t visits = 8;
  static constexpr std::size_t near = 7;  // as many as share a cache on most hosts
  static constexpr std::uint64_t rest_after_round = 100;

  bool visits_all() const noexcept { return others_.size() <= visits; }
  std::size_t draw(std::size_t below) noexcept {  // xorshift64
    random_ ^= random_ << 13U;
    random_ ^= random_ >> 7U;
    random_ ^= random_ << 17U;
    return static_cast<std::size_t>((random_ >> 32U) * below >> 32U);
  }

  std::vector<int> others_;
  std::size_t first_ = 0;
  std::size_t round_[visits] = {};
  std::uint64_t in_vain_ = 0;  // rounds since the last steal
  std::uint64_t rests_until_ = 0;
  std::uint64_t random_ = 1;
  std::uint64_t in_turn_ = 0;  // calls of next_in_turn()
};

}  // namespace apgas::inline v0::scheduler
