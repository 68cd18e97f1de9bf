// SPDX-License-Identifier: Apache-2.0
// The decisions of the watch in random jobs, in simulated time.
#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "detector_state.hpp"

namespace {

using namespace apgas::comm;
using namespace std::chrono_literals;
using kind = detector_action::kind;
using time_of = detector_state::time;

// A whole job with messages that take time and places that are slow at times.
class simulated_job {
 public:
  simulated_job(unsigned seed, time_of silence) : random_(seed), silence_(silence) {
    const int hosts = 1 + static_cast<int>(random_() % 4);
    std::vector<std::string> names;
    for (int i = 2 + static_cast<int>(random_() % 12); i > 0; --i) {
      names.push_back(std::string(1, static_cast<char>('a' + random_() % hosts)));
    }
    hosts_.emplace_back(names, names);
    for (rank r = 0; r < size(); ++r) {
      machines_.emplace_back(hosts_[0], r, silence, 0s);
      alive_.push_back(true);
      at(0s, [this, r] { wake(r); });
    }
  }

  int size() const { return hosts_[0].size(); }
  unsigned draw(unsigned below) { return static_cast<unsigned>(random_() % below); }
  unsigned slowest = 5;  // message, in hundredths of a silence
  int reported = 0;
  int done_places = 0;
  int left = 0;  // since all were done
  bool left_early = false;
  std::vector<rank> said_of;
  time_of said_at{};

  void at(time_of when, std::function<void()> what) {
    events_.emplace(when, std::pair{number_++, std::move(what)});
  }
  // It is gone; `word`: it said so itself. Its connections end.
  void end(rank r, bool word) {
    alive_[static_cast<std::size_t>(r)] = false;
    for (const rank other : around(r)) {
      if (word) deliver(r, other, [this, other] { machine(other).on_reported(139, now_); });
      deliver(r, other, [this, r, other] { machine(other).on_end(r, now_); });
    }
  }
  void hang(rank r) { alive_[static_cast<std::size_t>(r)] = false; }
  void done(rank r) {
    if (!alive_[static_cast<std::size_t>(r)]) return;
    ++done_places;
    machine(r).on_own_done();
    act(r);
  }

  void run(time_of until) {
    while (!events_.empty() && events_.begin()->first <= until) {
      now_ = events_.begin()->first;
      const std::function<void()> what = std::move(events_.begin()->second.second);
      events_.erase(events_.begin());
      what();
    }
  }

 private:
  detector_state& machine(rank r) { return machines_[static_cast<std::size_t>(r)]; }
  std::vector<rank> around(rank r) {
    std::vector<rank> all = hosts_[0].below(r);
    if (r != 0) all.push_back(hosts_[0].above(r));
    return all;
  }
  // In order for each pair.
  void deliver(rank from, rank to, std::function<void()> what) {
    time_of& last = arrival_[{from, to}];
    last = std::max(last + 1ns, now_ + silence_ * draw(slowest) / 100);
    at(last, [this, to, what = std::move(what)] {
      if (!alive_[static_cast<std::size_t>(to)]) return;
      machine(to).on_wake(now_);
      what();
      act(to);
    });
  }
  void wake(rank r) {
    if (!alive_[static_cast<std::size_t>(r)]) return;
    machine(r).on_wake(now_);
    for (const rank other : around(r)) {
      deliver(r, other, [this, r, other] { machine(other).on_sign(r, now_); });
    }
    act(r);
    const time_of slow = draw(10) == 0 ? machine(r).interval() * draw(4) : time_of{0};
    at(now_ + machine(r).interval() + slow, [this, r] { wake(r); });
  }
  void act(rank r) {
    for (detector_action a = machine(r).next(now_); a.what != kind::none; a = machine(r).next(now_)) {
      if (a.what == kind::report) {
        deliver(r, 0, [this, a] { machine(0).on_report(a.places[0], a.cause, now_); });
      } else if (a.what == kind::report_at) {
        ++reported;
        said_of = a.places;
        said_at = now_;
        for (const rank other : around(r)) {
          deliver(r, other, [this, other] { machine(other).on_reported(1, now_); });
        }
        // The launcher ends them all.
        at(now_ + 500ms, [this] { alive_.assign(alive_.size(), false); });
      } else if (a.what == kind::tell_done) {
        deliver(r, hosts_[0].above(r), [this, r] { machine(hosts_[0].above(r)).on_done(r); });
      } else {
        alive_[static_cast<std::size_t>(r)] = false;
      }
    }
    if (machine(r).all_done() && said_bye_.insert(r).second) {
      left_early |= done_places < size();
      for (const rank other : around(r)) {
        deliver(r, other, [this, r, other] { machine(other).on_bye(r); });
      }
    }
    if (machine(r).all_left()) return leave(r);
    const time_of then = machine(r).deadline(now_);
    if (then > now_) at(then, [this, r] { look(r); });
  }
  void leave(rank r) {
    ++left;
    alive_[static_cast<std::size_t>(r)] = false;
    for (const rank other : around(r)) {
      deliver(r, other, [this, r, other] { machine(other).on_end(r, now_); });
    }
  }
  void look(rank r) {
    if (!alive_[static_cast<std::size_t>(r)]) return;
    machine(r).on_wake(now_);
    act(r);
  }

  std::mt19937 random_;
  const time_of silence_;
  std::vector<detection_tree> hosts_;
  std::deque<detector_state> machines_;
  std::vector<bool> alive_;
  std::set<rank> said_bye_;
  std::multimap<time_of, std::pair<int, std::function<void()>>> events_;
  std::map<std::pair<rank, rank>, time_of> arrival_;
  time_of now_{};
  int number_ = 0;
};

TEST(WatchRandom, NoVerdictWhileSignsArrive) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    simulated_job job(seed, 10s);
    job.slowest = 30;
    job.run(120s);
    ASSERT_EQ(job.reported, 0) << "seed " << seed;
  }
}

TEST(WatchRandom, OneVerdictWithinTheBoundWhenAPlaceEnds) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    simulated_job job(seed, 10s);
    const rank victim = static_cast<rank>(job.draw(static_cast<unsigned>(job.size())));
    job.at(20s, [&] { job.end(victim, false); });
    job.run(60s);
    ASSERT_EQ(job.reported, 1) << "seed " << seed;
    ASSERT_EQ(job.said_of, std::vector<rank>{victim}) << "seed " << seed;
    ASSERT_LE(job.said_at, 20s + 2s) << "seed " << seed;
  }
}

TEST(WatchRandom, NobodySpeaksAfterOneThatSpokeItself) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    simulated_job job(seed, 10s);
    const rank victim = static_cast<rank>(job.draw(static_cast<unsigned>(job.size())));
    job.at(20s, [&] { job.end(victim, true); });
    job.run(21s);
    ASSERT_EQ(job.reported, 0) << "seed " << seed;
  }
}

TEST(WatchRandom, OneVerdictWithinTheBoundWhenAPlaceIsSilent) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    simulated_job job(seed, 10s);
    const rank victim = static_cast<rank>(job.draw(static_cast<unsigned>(job.size())));
    job.at(20s, [&] { job.hang(victim); });
    job.run(90s);
    ASSERT_GE(job.reported, 1) << "seed " << seed;
    ASSERT_LE(job.said_at, 20s + 3s + 11s + 5s + 3s) << "seed " << seed;
    ASSERT_TRUE(std::ranges::find(job.said_of, victim) != job.said_of.end()) << "seed " << seed;
  }
}

TEST(WatchRandom, AllLeaveWhenAllAreDone) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    simulated_job job(seed, 10s);
    for (rank r = 0; r < job.size(); ++r) {
      job.at(20s + 1ms * job.draw(2000), [&job, r] { job.done(r); });
    }
    job.run(60s);
    ASSERT_EQ(job.left, job.size()) << "seed " << seed;
    ASSERT_FALSE(job.left_early) << "seed " << seed;
    ASSERT_EQ(job.reported, 0) << "seed " << seed;
  }
}

// Be it done itself or not.
TEST(WatchRandom, OneVerdictWhenAPlaceIsLostBeforeAllAreDone) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    simulated_job job(seed, 10s);
    const auto size = static_cast<unsigned>(job.size());
    const rank victim = static_cast<rank>(job.draw(size));
    const rank last = static_cast<rank>((static_cast<unsigned>(victim) + 1) % size);
    const bool hangs = job.draw(2) == 0;
    for (rank r = 0; r < job.size(); ++r) {
      const auto when = r == last ? 70s : 20s + 1ms * job.draw(2000);
      job.at(when, [&job, r] { job.done(r); });
    }
    job.at(21s, [&] { hangs ? job.hang(victim) : job.end(victim, false); });
    job.run(90s);
    ASSERT_EQ(job.left, 0) << "seed " << seed;
    ASSERT_GE(job.reported, 1) << "seed " << seed;
    ASSERT_TRUE(std::ranges::find(job.said_of, victim) != job.said_of.end()) << "seed " << seed;
  }
}

}  // namespace
