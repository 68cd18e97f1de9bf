// SPDX-License-Identifier: Apache-2.0
// Who is gone, and who says so: the decisions of the watch, without sockets and clocks.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "detector_state.hpp"

namespace {

using namespace apgas::comm;
using namespace std::chrono_literals;
using kind = detector_action::kind;
using time_of = detector_state::time;

detection_tree hosts_of(const std::vector<std::string>& names) { return {names, names}; }

// Everything it does until that time, if nothing more happens.
std::vector<detector_action> run_until(detector_state& machine, time_of& now, time_of end) {
  std::vector<detector_action> done;
  while (true) {
    for (detector_action a = machine.next(now); a.what != kind::none; a = machine.next(now)) {
      done.push_back(a);
    }
    const time_of then = machine.deadline(now);
    if (then > end) return done;
    now = std::max(then, now + 1ms);
    machine.on_wake(now);
  }
}

TEST(WatchHosts, ATreeOfTwoLevels) {
  const detection_tree hosts = hosts_of({"a", "b", "a", "b", "c", "b"});
  EXPECT_EQ(hosts.above(0), -1);
  EXPECT_EQ(hosts.above(2), 0);
  EXPECT_EQ(hosts.above(1), 0);
  EXPECT_EQ(hosts.above(5), 1);
  EXPECT_EQ(hosts.below(0), (std::vector<rank>{1, 2, 4}));
  EXPECT_EQ(hosts.below(1), (std::vector<rank>{3, 5}));
  EXPECT_TRUE(hosts.below(4).empty());
  EXPECT_FALSE(hosts.one_host());
  EXPECT_TRUE(hosts_of({"a", "a"}).one_host());
}

TEST(WatchHosts, Names) {
  const detection_tree hosts = hosts_of({"a", "b", "b", "b", "c"});
  EXPECT_EQ(hosts.names({2}), "place 2 on b");
  EXPECT_EQ(hosts.names({1, 2, 3}), "places 1-3 on b");
  EXPECT_EQ(hosts.names({0, 1, 3, 4}), "places 0 on a, 1,3 on b and 4 on c");
}

// A host of the same name that is another one: as nodes in containers of one name.
TEST(WatchHosts, TheKeyTells) {
  const detection_tree hosts({"a", "a"}, {"a1", "a2"});
  EXPECT_FALSE(hosts.same_host(0, 1));
}

TEST(WatchMachine, AnEndWithoutByeIsSaidAtOnceByPlaceZero) {
  const detection_tree hosts = hosts_of({"a", "a", "a"});
  detector_state machine(hosts, 0, 10s, 0s);
  machine.on_end(2, 1s);
  const detector_action said = machine.next(1s);
  EXPECT_EQ(said.what, kind::report_at);
  EXPECT_EQ(said.places, std::vector<rank>{2});
  EXPECT_EQ(said.cause, end_cause::ended);
  EXPECT_EQ(machine.next(1s).what, kind::none);  // the launcher's turn
  const detector_action left = machine.next(1s + detector_state::launchers_turn);
  EXPECT_EQ(left.what, kind::leave);
  EXPECT_EQ(left.code, 1);
  EXPECT_EQ(machine.next(60s).what, kind::none);
}

TEST(WatchMachine, AnEndAfterByeIsNone) {
  const detection_tree hosts = hosts_of({"a", "a"});
  detector_state machine(hosts, 0, 10s, 0s);
  machine.on_bye(1);
  machine.on_end(1, 1s);
  time_of now = 1s;
  EXPECT_TRUE(run_until(machine, now, 60s).empty());
  EXPECT_FALSE(machine.ending());
}

TEST(WatchMachine, SilenceIsSaidAfterItsTimeAndOneInterval) {
  const detection_tree hosts = hosts_of({"a", "b", "b"});
  detector_state machine(hosts, 0, 10s, 0s);
  time_of now = 0s;
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(run_until(machine, now, now + 4s).empty());
    machine.on_sign(1, now);
  }
  const time_of last = now;
  const std::vector<detector_action> done = run_until(machine, now, last + 12s);
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].what, kind::report_at);
  EXPECT_EQ(done[0].places, (std::vector<rank>{1, 2}));  // all of that host
  EXPECT_EQ(done[0].cause, end_cause::silent);
  EXPECT_EQ(done[1].what, kind::leave);
}

TEST(WatchMachine, SilenceOfPlacesThatWentTogetherIsSaidOnce) {
  const detection_tree hosts = hosts_of({"a", "b", "c", "d"});
  detector_state machine(hosts, 0, 10s, 0s);
  machine.on_sign(2, 500ms);
  time_of now = 0s;
  EXPECT_TRUE(run_until(machine, now, 8s).empty());
  machine.on_sign(3, now);
  const std::vector<detector_action> done = run_until(machine, now, 12s);
  ASSERT_GE(done.size(), 1u);
  EXPECT_EQ(done[0].places, (std::vector<rank>{1, 2}));
}

TEST(WatchMachine, WithoutATimeSilenceIsNoFailure) {
  const detection_tree hosts = hosts_of({"a", "b"});
  detector_state machine(hosts, 0, 0s, 0s);
  time_of now = 0s;
  EXPECT_TRUE(run_until(machine, now, 3600s).empty());
  machine.on_end(1, now);
  EXPECT_EQ(machine.next(now).what, kind::report_at);
}

TEST(WatchMachine, WhoWasLateBlamesNobody) {
  const detection_tree hosts = hosts_of({"a", "a"});
  detector_state machine(hosts, 1, 2s, 0s);
  time_of now = 0s;
  EXPECT_TRUE(run_until(machine, now, 1s).empty());
  now += 60s;  // it was stopped
  machine.on_wake(now);
  EXPECT_EQ(machine.next(now).what, kind::none);
  machine.on_end(0, now);  // which would be its to say
  EXPECT_EQ(machine.next(now).what, kind::none);
  EXPECT_EQ(machine.next(now + detector_state::grace).what, kind::report_at);
}

TEST(WatchMachine, ALeaderReportsAndSpeaksOnlyIfThatEndsNothing) {
  const detection_tree hosts = hosts_of({"a", "b", "b"});
  detector_state leader(hosts, 1, 10s, 0s);
  leader.on_end(2, 1s);
  const detector_action told = leader.next(1s);
  EXPECT_EQ(told.what, kind::report);
  EXPECT_EQ(told.places, std::vector<rank>{2});
  EXPECT_EQ(leader.next(1s).what, kind::none);
  EXPECT_TRUE(leader.ending());

  detector_state zero(hosts, 0, 10s, 0s);
  zero.on_report(2, end_cause::ended, 1s);
  EXPECT_EQ(zero.next(1s).what, kind::report_at);

  leader.on_sign(0, 10s);
  EXPECT_EQ(leader.next(1s + detector_state::grace).what, kind::none);
  EXPECT_EQ(leader.next(12s).what, kind::report_at);
}

TEST(WatchMachine, AReportOfAPlaceThatIsNotThereChangesNothing) {
  const detection_tree hosts = hosts_of({"a", "b"});
  detector_state zero(hosts, 0, 10s, 0s);
  zero.on_report(7, end_cause::ended, 1s);
  zero.on_report(0, end_cause::ended, 1s);
  zero.on_report(-1, end_cause::silent, 1s);
  zero.on_end(9, 1s);
  EXPECT_EQ(zero.next(1s).what, kind::none);
}

TEST(WatchMachine, TheFirstDeputySpeaksOfPlaceZeroAndTheNextWait) {
  const detection_tree hosts = hosts_of({"a", "b", "a"});
  detector_state first(hosts, 1, 10s, 0s);
  detector_state second(hosts, 2, 10s, 0s);
  first.on_end(0, 1s);
  second.on_end(0, 1s);
  EXPECT_EQ(first.next(1s).what, kind::report_at);
  EXPECT_EQ(second.next(1s).what, kind::none);
  second.on_reported(1, 1s + 1ms);
  EXPECT_EQ(second.next(10s).what, kind::leave);  // and says nothing
}

TEST(WatchMachine, WhoHearsThatAnotherHasSpokenIsSilentAndLeaves) {
  const detection_tree hosts = hosts_of({"a", "a"});
  detector_state machine(hosts, 0, 10s, 0s);
  machine.on_reported(139, 1s);
  machine.on_end(1, 1s);
  EXPECT_EQ(machine.next(1s).what, kind::none);
  const detector_action left = machine.next(1s + detector_state::others_turn);
  EXPECT_EQ(left.what, kind::leave);
  EXPECT_EQ(left.code, 139);
}

TEST(WatchMachine, AskedToEndItLeavesButSaysWhatItSeesMeanwhile) {
  const detection_tree hosts = hosts_of({"a", "a"});
  detector_state machine(hosts, 0, 10s, 0s);
  machine.on_asked_to_end(143, 1s);
  EXPECT_EQ(machine.next(1s + 100ms).what, kind::none);
  machine.on_end(1, 1s + 100ms);
  EXPECT_EQ(machine.next(1s + 100ms).what, kind::report_at);
  const detector_action left = machine.next(1s + detector_state::last_look);
  EXPECT_EQ(left.what, kind::leave);
  EXPECT_EQ(left.code, 143);
}

TEST(WatchMachine, ALeaderIsDoneWhenThoseBelowAre) {
  const detection_tree hosts = hosts_of({"a", "b", "b"});
  detector_state leader(hosts, 1, 10s, 0s);
  leader.on_own_done();
  EXPECT_EQ(leader.next(1s).what, kind::none);
  leader.on_done(2);
  EXPECT_EQ(leader.next(1s).what, kind::tell_done);
  EXPECT_EQ(leader.next(1s).what, kind::none);
  EXPECT_FALSE(leader.all_done());
  leader.on_bye(0);
  EXPECT_TRUE(leader.all_done());
  EXPECT_FALSE(leader.all_left());
  leader.on_bye(2);
  EXPECT_TRUE(leader.all_left());
}

TEST(WatchMachine, PlaceZeroWaitsForAllBelow) {
  const detection_tree hosts = hosts_of({"a", "a", "b"});
  detector_state zero(hosts, 0, 10s, 0s);
  zero.on_done(1);
  zero.on_done(2);
  EXPECT_FALSE(zero.all_done());
  zero.on_own_done();
  EXPECT_TRUE(zero.all_done());
  zero.on_bye(1);
  zero.on_end(1, 1s);
  EXPECT_FALSE(zero.all_left());
  zero.on_bye(2);
  EXPECT_TRUE(zero.all_left());
}

TEST(WatchMachine, WhoHasNotSaidByeIsStillWatched) {
  const detection_tree hosts = hosts_of({"a", "a"});
  detector_state zero(hosts, 0, 10s, 0s);
  zero.on_own_done();
  zero.on_done(1);
  EXPECT_TRUE(zero.all_done());
  zero.on_end(1, 1s);
  EXPECT_EQ(zero.next(1s).what, kind::report_at);
  EXPECT_FALSE(zero.all_left());
}

TEST(WatchMachine, WhoIsDoneIsStillWatched) {
  const detection_tree hosts = hosts_of({"a", "a", "a"});
  detector_state zero(hosts, 0, 10s, 0s);
  zero.on_own_done();
  zero.on_done(1);
  zero.on_end(1, 1s);
  EXPECT_EQ(zero.next(1s).what, kind::report_at);
  zero.on_done(2);
  EXPECT_FALSE(zero.all_done());
}

}  // namespace
