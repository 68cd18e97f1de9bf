// SPDX-License-Identifier: Apache-2.0
// The decisions of the failure detector in random jobs, in simulated time.
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

// A job whose messages take time and whose places are slow at times.
class simulated_job {
 public:
  simulated_job(unsigned seed, time_of timeout) : random_(seed), timeout_(timeout) {
    const int hosts = 1 + static_cast<int>(random_() % 4);
    std::vector<std::string> names;
    for (int i = 2 + static_cast<int>(random_() % 12); i > 0; --i) {
      names.push_back(std::string(1, static_cast<char>('a' + random_() % hosts)));
    }
    trees_.emplace_back(names, names);
    for (rank r = 0; r < size(); ++r) {
      states_.emplace_back(trees_[0], r, timeout, 0s);
      alive_.push_back(true);
      at(0s, [this, r] { wake(r); });
    }
  }

  int size() const { return trees_[0].size(); }
  unsigned draw(unsigned below) { return static_cast<unsigned>(random_() % below); }
  unsigned slowest = 5;  // delay of a message, in hundredths of the timeout
  int reported = 0;
  int done_places = 0;
  int left = 0;  // places that left after all were done
  bool left_early = false;
  std::vector<rank> reported_places;
  time_of reported_at{};

  void at(time_of when, std::function<void()> what) {
    events_.emplace(when, std::pair{number_++, std::move(what)});
  }
  // Ends a place and its connections. `reports_itself`: it printed its exit reason before.
  void end(rank r, bool reports_itself) {
    alive_[static_cast<std::size_t>(r)] = false;
    for (const rank other : linked_to(r)) {
      if (reports_itself) deliver(r, other, [this, other] { state(other).on_reported(139, now_); });
      deliver(r, other, [this, r, other] { state(other).on_connection_end(r, now_); });
    }
  }
  void hang(rank r) { alive_[static_cast<std::size_t>(r)] = false; }
  void done(rank r) {
    if (!alive_[static_cast<std::size_t>(r)]) return;
    ++done_places;
    state(r).on_own_done();
    carry_out_actions(r);
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
  detector_state& state(rank r) { return states_[static_cast<std::size_t>(r)]; }
  std::vector<rank> linked_to(rank r) {
    std::vector<rank> all = trees_[0].children(r);
    if (r != 0) all.push_back(trees_[0].parent(r));
    return all;
  }
  // Delivers in order for each pair of places.
  void deliver(rank from, rank to, std::function<void()> what) {
    time_of& last = arrival_[{from, to}];
    last = std::max(last + 1ns, now_ + timeout_ * draw(slowest) / 100);
    at(last, [this, to, what = std::move(what)] {
      if (!alive_[static_cast<std::size_t>(to)]) return;
      state(to).on_wake(now_);
      what();
      carry_out_actions(to);
    });
  }
  void wake(rank r) {
    if (!alive_[static_cast<std::size_t>(r)]) return;
    state(r).on_wake(now_);
    for (const rank other : linked_to(r)) {
      deliver(r, other, [this, r, other] { state(other).on_heartbeat(r, now_); });
    }
    carry_out_actions(r);
    const time_of slow = draw(10) == 0 ? state(r).interval() * draw(4) : time_of{0};
    at(now_ + state(r).interval() + slow, [this, r] { wake(r); });
  }
  void carry_out_actions(rank r) {
    for (detector_action a = state(r).next(now_); a.what != kind::none; a = state(r).next(now_)) {
      if (a.what == kind::forward) {
        deliver(r, 0, [this, a] { state(0).on_forwarded_failure(a.places[0], a.cause, now_); });
      } else if (a.what == kind::report) {
        ++reported;
        reported_places = a.places;
        reported_at = now_;
        for (const rank other : linked_to(r)) {
          deliver(r, other, [this, other] { state(other).on_reported(1, now_); });
        }
        // The launcher ends all places.
        at(now_ + 500ms, [this] { alive_.assign(alive_.size(), false); });
      } else if (a.what == kind::send_done) {
        deliver(r, trees_[0].parent(r), [this, r] { state(trees_[0].parent(r)).on_done(r); });
      } else {
        alive_[static_cast<std::size_t>(r)] = false;
      }
    }
    if (state(r).all_done() && sent_goodbye_.insert(r).second) {
      left_early |= done_places < size();
      for (const rank other : linked_to(r)) {
        deliver(r, other, [this, r, other] { state(other).on_goodbye(r); });
      }
    }
    if (state(r).all_left()) return leave(r);
    const time_of then = state(r).deadline(now_);
    if (then > now_) at(then, [this, r] { look(r); });
  }
  void leave(rank r) {
    ++left;
    alive_[static_cast<std::size_t>(r)] = false;
    for (const rank other : linked_to(r)) {
      deliver(r, other, [this, r, other] { state(other).on_connection_end(r, now_); });
    }
  }
  void look(rank r) {
    if (!alive_[static_cast<std::size_t>(r)]) return;
    state(r).on_wake(now_);
    carry_out_actions(r);
  }

  std::mt19937 random_;
  const time_of timeout_;
  std::vector<detection_tree> trees_;
  std::deque<detector_state> states_;
  std::vector<bool> alive_;
  std::set<rank> sent_goodbye_;
  std::multimap<time_of, std::pair<int, std::function<void()>>> events_;
  std::map<std::pair<rank, rank>, time_of> arrival_;
  time_of now_{};
  int number_ = 0;
};

TEST(DetectorRandom, ReportsNothingWhileHeartbeatsArrive) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    simulated_job job(seed, 10s);
    job.slowest = 30;
    job.run(120s);
    ASSERT_EQ(job.reported, 0) << "seed " << seed;
  }
}

TEST(DetectorRandom, OnePlaceReportsAnEndedPlaceInTime) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    simulated_job job(seed, 10s);
    const rank victim = static_cast<rank>(job.draw(static_cast<unsigned>(job.size())));
    job.at(20s, [&] { job.end(victim, false); });
    job.run(60s);
    ASSERT_EQ(job.reported, 1) << "seed " << seed;
    ASSERT_EQ(job.reported_places, std::vector<rank>{victim}) << "seed " << seed;
    ASSERT_LE(job.reported_at, 20s + 2s) << "seed " << seed;
  }
}

TEST(DetectorRandom, NoPlaceReportsAPlaceThatReportedItself) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    simulated_job job(seed, 10s);
    const rank victim = static_cast<rank>(job.draw(static_cast<unsigned>(job.size())));
    job.at(20s, [&] { job.end(victim, true); });
    job.run(21s);
    ASSERT_EQ(job.reported, 0) << "seed " << seed;
  }
}

TEST(DetectorRandom, HungPlacesAreReportedInTime) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    simulated_job job(seed, 10s);
    const rank victim = static_cast<rank>(job.draw(static_cast<unsigned>(job.size())));
    job.at(20s, [&] { job.hang(victim); });
    job.run(90s);
    ASSERT_GE(job.reported, 1) << "seed " << seed;
    ASSERT_LE(job.reported_at, 20s + 3s + 11s + 5s + 3s) << "seed " << seed;
    ASSERT_TRUE(std::ranges::find(job.reported_places, victim) != job.reported_places.end())
        << "seed " << seed;
  }
}

TEST(DetectorRandom, AllPlacesLeaveWhenAllAreDone) {
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

// The failed place may or may not be done itself.
TEST(DetectorRandom, FailuresAreReportedUntilAllPlacesAreDone) {
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
    ASSERT_TRUE(std::ranges::find(job.reported_places, victim) != job.reported_places.end())
        << "seed " << seed;
  }
}

}  // namespace
