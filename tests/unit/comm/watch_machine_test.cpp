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
using kind = watch_action::kind;
using time_of = watch_machine::time;

watch_hosts hosts_of(const std::vector<std::string>& names) { return {names, names}; }

// Everything it does until that time, if nothing more happens.
std::vector<watch_action> run_until(watch_machine& machine, time_of& now, time_of end) {
  std::vector<watch_action> done;
  while (true) {
    for (watch_action a = machine.next(now); a.what != kind::none; a = machine.next(now)) {
      done.push_back(a);
    }
    const time_of then = machine.deadline(now);
    if (then > end) return done;
    now = std::max(then, now + 1ms);
    machine.on_wake(now);
  }
}

TEST(WatchHosts, ATreeOfTwoLevels) {
  const watch_hosts hosts = hosts_of({"a", "b", "a", "b", "c", "b"});
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
  const watch_hosts hosts = hosts_of({"a", "b", "b", "b", "c"});
  EXPECT_EQ(hosts.names({2}), "place 2 on b");
  EXPECT_EQ(hosts.names({1, 2, 3}), "places 1-3 on b");
  EXPECT_EQ(hosts.names({0, 1, 3, 4}), "places 0 on a, 1,3 on b and 4 on c");
}

// A host of the same name that is another one: as nodes in containers of one name.
TEST(WatchHosts, TheKeyTells) {
  const watch_hosts hosts({"a", "a"}, {"a1", "a2"});
  EXPECT_FALSE(hosts.same_host(0, 1));
}

TEST(WatchMachine, AnEndWithoutByeIsSaidAtOnceByPlaceZero) {
  const watch_hosts hosts = hosts_of({"a", "a", "a"});
  watch_machine machine(hosts, 0, 10s, 0s);
  machine.on_end(2, 1s);
  const watch_action said = machine.next(1s);
  EXPECT_EQ(said.what, kind::speak);
  EXPECT_EQ(said.places, std::vector<rank>{2});
  EXPECT_EQ(said.cause, end_cause::ended);
  EXPECT_EQ(machine.next(1s).what, kind::none);  // the launcher's turn
  const watch_action left = machine.next(1s + watch_machine::launchers_turn);
  EXPECT_EQ(left.what, kind::leave);
  EXPECT_EQ(left.code, 1);
  EXPECT_EQ(machine.next(60s).what, kind::none);
}

TEST(WatchMachine, AnEndAfterByeIsNone) {
  const watch_hosts hosts = hosts_of({"a", "a"});
  watch_machine machine(hosts, 0, 10s, 0s);
  machine.on_bye(1);
  machine.on_end(1, 1s);
  time_of now = 1s;
  EXPECT_TRUE(run_until(machine, now, 60s).empty());
  EXPECT_FALSE(machine.ending());
}

TEST(WatchMachine, SilenceIsSaidAfterItsTimeAndOneInterval) {
  const watch_hosts hosts = hosts_of({"a", "b", "b"});
  watch_machine machine(hosts, 0, 10s, 0s);
  time_of now = 0s;
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(run_until(machine, now, now + 4s).empty());
    machine.on_sign(1, now);
  }
  const time_of last = now;
  const std::vector<watch_action> done = run_until(machine, now, last + 12s);
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].what, kind::speak);
  EXPECT_EQ(done[0].places, (std::vector<rank>{1, 2}));  // all of that host
  EXPECT_EQ(done[0].cause, end_cause::silent);
  EXPECT_EQ(done[1].what, kind::leave);
}

TEST(WatchMachine, SilenceOfPlacesThatWentTogetherIsSaidOnce) {
  const watch_hosts hosts = hosts_of({"a", "b", "c", "d"});
  watch_machine machine(hosts, 0, 10s, 0s);
  machine.on_sign(2, 500ms);
  time_of now = 0s;
  EXPECT_TRUE(run_until(machine, now, 8s).empty());
  machine.on_sign(3, now);
  const std::vector<watch_action> done = run_until(machine, now, 12s);
  ASSERT_GE(done.size(), 1u);
  EXPECT_EQ(done[0].places, (std::vector<rank>{1, 2}));
}

TEST(WatchMachine, WithoutATimeSilenceIsNoFailure) {
  const watch_hosts hosts = hosts_of({"a", "b"});
  watch_machine machine(hosts, 0, 0s, 0s);
  time_of now = 0s;
  EXPECT_TRUE(run_until(machine, now, 3600s).empty());
  machine.on_end(1, now);
  EXPECT_EQ(machine.next(now).what, kind::speak);
}

TEST(WatchMachine, WhoWasLateBlamesNobody) {
  const watch_hosts hosts = hosts_of({"a", "a"});
  watch_machine machine(hosts, 1, 2s, 0s);
  time_of now = 0s;
  EXPECT_TRUE(run_until(machine, now, 1s).empty());
  now += 60s;  // it was stopped
  machine.on_wake(now);
  EXPECT_EQ(machine.next(now).what, kind::none);
  machine.on_end(0, now);  // which would be its to say
  EXPECT_EQ(machine.next(now).what, kind::none);
  EXPECT_EQ(machine.next(now + watch_machine::grace).what, kind::speak);
}

TEST(WatchMachine, ALeaderReportsAndSpeaksOnlyIfThatEndsNothing) {
  const watch_hosts hosts = hosts_of({"a", "b", "b"});
  watch_machine leader(hosts, 1, 10s, 0s);
  leader.on_end(2, 1s);
  const watch_action told = leader.next(1s);
  EXPECT_EQ(told.what, kind::report);
  EXPECT_EQ(told.places, std::vector<rank>{2});
  EXPECT_EQ(leader.next(1s).what, kind::none);
  EXPECT_TRUE(leader.ending());

  watch_machine zero(hosts, 0, 10s, 0s);
  zero.on_report(2, end_cause::ended, 1s);
  EXPECT_EQ(zero.next(1s).what, kind::speak);

  leader.on_sign(0, 10s);
  EXPECT_EQ(leader.next(1s + watch_machine::grace).what, kind::none);
  EXPECT_EQ(leader.next(12s).what, kind::speak);
}

TEST(WatchMachine, AReportOfAPlaceThatIsNotThereChangesNothing) {
  const watch_hosts hosts = hosts_of({"a", "b"});
  watch_machine zero(hosts, 0, 10s, 0s);
  zero.on_report(7, end_cause::ended, 1s);
  zero.on_report(0, end_cause::ended, 1s);
  zero.on_report(-1, end_cause::silent, 1s);
  zero.on_end(9, 1s);
  EXPECT_EQ(zero.next(1s).what, kind::none);
}

TEST(WatchMachine, TheFirstDeputySpeaksOfPlaceZeroAndTheNextWait) {
  const watch_hosts hosts = hosts_of({"a", "b", "a"});
  watch_machine first(hosts, 1, 10s, 0s);
  watch_machine second(hosts, 2, 10s, 0s);
  first.on_end(0, 1s);
  second.on_end(0, 1s);
  EXPECT_EQ(first.next(1s).what, kind::speak);
  EXPECT_EQ(second.next(1s).what, kind::none);
  second.on_spoken(1, 1s + 1ms);
  EXPECT_EQ(second.next(10s).what, kind::leave);  // and says nothing
}

TEST(WatchMachine, WhoHearsThatAnotherHasSpokenIsSilentAndLeaves) {
  const watch_hosts hosts = hosts_of({"a", "a"});
  watch_machine machine(hosts, 0, 10s, 0s);
  machine.on_spoken(139, 1s);
  machine.on_end(1, 1s);
  EXPECT_EQ(machine.next(1s).what, kind::none);
  const watch_action left = machine.next(1s + watch_machine::others_turn);
  EXPECT_EQ(left.what, kind::leave);
  EXPECT_EQ(left.code, 139);
}

TEST(WatchMachine, AskedToEndItLeavesButSaysWhatItSeesMeanwhile) {
  const watch_hosts hosts = hosts_of({"a", "a"});
  watch_machine machine(hosts, 0, 10s, 0s);
  machine.on_asked_to_end(143, 1s);
  EXPECT_EQ(machine.next(1s + 100ms).what, kind::none);
  machine.on_end(1, 1s + 100ms);
  EXPECT_EQ(machine.next(1s + 100ms).what, kind::speak);
  const watch_action left = machine.next(1s + watch_machine::last_look);
  EXPECT_EQ(left.what, kind::leave);
  EXPECT_EQ(left.code, 143);
}

TEST(WatchMachine, ALeaderIsDoneWhenThoseBelowAre) {
  const watch_hosts hosts = hosts_of({"a", "b", "b"});
  watch_machine leader(hosts, 1, 10s, 0s);
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
  const watch_hosts hosts = hosts_of({"a", "a", "b"});
  watch_machine zero(hosts, 0, 10s, 0s);
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
  const watch_hosts hosts = hosts_of({"a", "a"});
  watch_machine zero(hosts, 0, 10s, 0s);
  zero.on_own_done();
  zero.on_done(1);
  EXPECT_TRUE(zero.all_done());
  zero.on_end(1, 1s);
  EXPECT_EQ(zero.next(1s).what, kind::speak);
  EXPECT_FALSE(zero.all_left());
}

TEST(WatchMachine, WhoIsDoneIsStillWatched) {
  const watch_hosts hosts = hosts_of({"a", "a", "a"});
  watch_machine zero(hosts, 0, 10s, 0s);
  zero.on_own_done();
  zero.on_done(1);
  zero.on_end(1, 1s);
  EXPECT_EQ(zero.next(1s).what, kind::speak);
  zero.on_done(2);
  EXPECT_FALSE(zero.all_done());
}

}  // namespace
