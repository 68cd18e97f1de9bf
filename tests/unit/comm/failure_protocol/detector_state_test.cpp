// SPDX-License-Identifier: Apache-2.0
// The decisions of the failure detector, without sockets and clocks: which place has failed, and
// which place reports it.
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

// All actions until `end` if there are no further events.
std::vector<detector_action> run_until(detector_state& state, time_of& now, time_of end) {
  std::vector<detector_action> done;
  while (true) {
    for (detector_action a = state.next(now); a.what != kind::none; a = state.next(now)) {
      done.push_back(a);
    }
    const time_of then = state.deadline(now);
    if (then > end) return done;
    now = std::max(then, now + 1ms);
    state.on_wake(now);
  }
}

TEST(DetectionTree, HasTwoLevels) {
  const detection_tree hosts = hosts_of({"a", "b", "a", "b", "c", "b"});
  EXPECT_EQ(hosts.parent(0), -1);
  EXPECT_EQ(hosts.parent(2), 0);
  EXPECT_EQ(hosts.parent(1), 0);
  EXPECT_EQ(hosts.parent(5), 1);
  EXPECT_EQ(hosts.children(0), (std::vector<rank>{1, 2, 4}));
  EXPECT_EQ(hosts.children(1), (std::vector<rank>{3, 5}));
  EXPECT_TRUE(hosts.children(4).empty());
  EXPECT_FALSE(hosts.one_host());
  EXPECT_TRUE(hosts_of({"a", "a"}).one_host());
}

TEST(DetectionTree, FormatsNames) {
  const detection_tree hosts = hosts_of({"a", "b", "b", "b", "c"});
  EXPECT_EQ(hosts.names({2}), "place 2 on b");
  EXPECT_EQ(hosts.names({1, 2, 3}), "places 1-3 on b");
  EXPECT_EQ(hosts.names({0, 1, 3, 4}), "places 0 on a, 1,3 on b and 4 on c");
}

// Two hosts with the same name, such as two containers.
TEST(DetectionTree, TellsHostsApartByTheirKeys) {
  const detection_tree hosts({"a", "a"}, {"a1", "a2"});
  EXPECT_FALSE(hosts.same_host(0, 1));
}

TEST(DetectorState, PlaceZeroReportsAnEndWithoutGoodbyeAtOnce) {
  const detection_tree hosts = hosts_of({"a", "a", "a"});
  detector_state state(hosts, 0, 10s, 0s);
  state.on_connection_end(2, 1s);
  const detector_action report = state.next(1s);
  EXPECT_EQ(report.what, kind::report);
  EXPECT_EQ(report.places, std::vector<rank>{2});
  EXPECT_EQ(report.cause, failure_cause::ended);
  EXPECT_EQ(state.next(1s).what, kind::none);  // it leaves time to the launcher
  const detector_action end = state.next(1s + detector_state::launcher_timeout);
  EXPECT_EQ(end.what, kind::end_job);
  EXPECT_EQ(end.code, 1);
  EXPECT_EQ(state.next(60s).what, kind::none);
}

TEST(DetectorState, AnEndAfterGoodbyeIsNoFailure) {
  const detection_tree hosts = hosts_of({"a", "a"});
  detector_state state(hosts, 0, 10s, 0s);
  state.on_goodbye(1);
  state.on_connection_end(1, 1s);
  time_of now = 1s;
  EXPECT_TRUE(run_until(state, now, 60s).empty());
  EXPECT_FALSE(state.ending());
}

TEST(DetectorState, AMissingHeartbeatIsReportedOneIntervalAfterTheTimeout) {
  const detection_tree hosts = hosts_of({"a", "b", "b"});
  detector_state state(hosts, 0, 10s, 0s);
  time_of now = 0s;
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(run_until(state, now, now + 4s).empty());
    state.on_heartbeat(1, now);
  }
  const time_of last = now;
  const std::vector<detector_action> done = run_until(state, now, last + 12s);
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].what, kind::report);
  EXPECT_EQ(done[0].places, (std::vector<rank>{1, 2}));  // all places of that host
  EXPECT_EQ(done[0].cause, failure_cause::timed_out);
  EXPECT_EQ(done[1].what, kind::end_job);
}

TEST(DetectorState, PlacesThatFailTogetherAreReportedOnce) {
  const detection_tree hosts = hosts_of({"a", "b", "c", "d"});
  detector_state state(hosts, 0, 10s, 0s);
  state.on_heartbeat(2, 500ms);
  time_of now = 0s;
  EXPECT_TRUE(run_until(state, now, 8s).empty());
  state.on_heartbeat(3, now);
  const std::vector<detector_action> done = run_until(state, now, 12s);
  ASSERT_GE(done.size(), 1u);
  EXPECT_EQ(done[0].places, (std::vector<rank>{1, 2}));
}

TEST(DetectorState, WithoutATimeoutAMissingHeartbeatIsNoFailure) {
  const detection_tree hosts = hosts_of({"a", "b"});
  detector_state state(hosts, 0, 0s, 0s);
  time_of now = 0s;
  EXPECT_TRUE(run_until(state, now, 3600s).empty());
  state.on_connection_end(1, now);
  EXPECT_EQ(state.next(now).what, kind::report);
}

TEST(DetectorState, ALatePlaceReportsNoOtherPlace) {
  const detection_tree hosts = hosts_of({"a", "a"});
  detector_state state(hosts, 1, 2s, 0s);
  time_of now = 0s;
  EXPECT_TRUE(run_until(state, now, 1s).empty());
  now += 60s;  // as if it had been stopped
  state.on_wake(now);
  EXPECT_EQ(state.next(now).what, kind::none);
  state.on_connection_end(0, now);  // this place is the first reporter of place 0
  EXPECT_EQ(state.next(now).what, kind::none);
  EXPECT_EQ(state.next(now + detector_state::fallback_delay).what, kind::report);
}

TEST(DetectorState, ALeaderNotifiesPlaceZeroAndReportsOnlyAsAFallback) {
  const detection_tree hosts = hosts_of({"a", "b", "b"});
  detector_state leader(hosts, 1, 10s, 0s);
  leader.on_connection_end(2, 1s);
  const detector_action told = leader.next(1s);
  EXPECT_EQ(told.what, kind::forward);
  EXPECT_EQ(told.places, std::vector<rank>{2});
  EXPECT_EQ(leader.next(1s).what, kind::none);
  EXPECT_TRUE(leader.ending());

  detector_state zero(hosts, 0, 10s, 0s);
  zero.on_forwarded_failure(2, failure_cause::ended, 1s);
  EXPECT_EQ(zero.next(1s).what, kind::report);

  leader.on_heartbeat(0, 10s);
  EXPECT_EQ(leader.next(1s + detector_state::fallback_delay).what, kind::none);
  EXPECT_EQ(leader.next(12s).what, kind::report);
}

TEST(DetectorState, AFailureOfANonexistentPlaceIsIgnored) {
  const detection_tree hosts = hosts_of({"a", "b"});
  detector_state zero(hosts, 0, 10s, 0s);
  zero.on_forwarded_failure(7, failure_cause::ended, 1s);
  zero.on_forwarded_failure(0, failure_cause::ended, 1s);
  zero.on_forwarded_failure(-1, failure_cause::timed_out, 1s);
  zero.on_connection_end(9, 1s);
  EXPECT_EQ(zero.next(1s).what, kind::none);
}

TEST(DetectorState, PlaceOneReportsPlaceZeroAndFallbackReportersWait) {
  const detection_tree hosts = hosts_of({"a", "b", "a"});
  detector_state first(hosts, 1, 10s, 0s);
  detector_state second(hosts, 2, 10s, 0s);
  first.on_connection_end(0, 1s);
  second.on_connection_end(0, 1s);
  EXPECT_EQ(first.next(1s).what, kind::report);
  EXPECT_EQ(second.next(1s).what, kind::none);
  second.on_reported(1, 1s + 1ms);
  EXPECT_EQ(second.next(10s).what, kind::end_job);  // and reports nothing
}

TEST(DetectorState, APlaceEndsWithoutAReportAfterAnotherHasReported) {
  const detection_tree hosts = hosts_of({"a", "a"});
  detector_state state(hosts, 0, 10s, 0s);
  state.on_reported(139, 1s);
  state.on_connection_end(1, 1s);
  EXPECT_EQ(state.next(1s).what, kind::none);
  const detector_action end = state.next(1s + detector_state::reporter_timeout);
  EXPECT_EQ(end.what, kind::end_job);
  EXPECT_EQ(end.code, 139);
}

TEST(DetectorState, APlaceThatIsAskedToEndStillReportsFailures) {
  const detection_tree hosts = hosts_of({"a", "a"});
  detector_state state(hosts, 0, 10s, 0s);
  state.on_asked_to_end(143, 1s);
  EXPECT_EQ(state.next(1s + 100ms).what, kind::none);
  state.on_connection_end(1, 1s + 100ms);
  EXPECT_EQ(state.next(1s + 100ms).what, kind::report);
  const detector_action end = state.next(1s + detector_state::termination_delay);
  EXPECT_EQ(end.what, kind::end_job);
  EXPECT_EQ(end.code, 143);
}

TEST(DetectorState, ALeaderIsDoneWhenItsChildrenAre) {
  const detection_tree hosts = hosts_of({"a", "b", "b"});
  detector_state leader(hosts, 1, 10s, 0s);
  leader.on_own_done();
  EXPECT_EQ(leader.next(1s).what, kind::none);
  leader.on_done(2);
  EXPECT_EQ(leader.next(1s).what, kind::send_done);
  EXPECT_EQ(leader.next(1s).what, kind::none);
  EXPECT_FALSE(leader.all_done());
  leader.on_goodbye(0);
  EXPECT_TRUE(leader.all_done());
  EXPECT_FALSE(leader.all_left());
  leader.on_goodbye(2);
  EXPECT_TRUE(leader.all_left());
}

TEST(DetectorState, PlaceZeroWaitsForAllChildren) {
  const detection_tree hosts = hosts_of({"a", "a", "b"});
  detector_state zero(hosts, 0, 10s, 0s);
  zero.on_done(1);
  zero.on_done(2);
  EXPECT_FALSE(zero.all_done());
  zero.on_own_done();
  EXPECT_TRUE(zero.all_done());
  zero.on_goodbye(1);
  zero.on_connection_end(1, 1s);
  EXPECT_FALSE(zero.all_left());
  zero.on_goodbye(2);
  EXPECT_TRUE(zero.all_left());
}

TEST(DetectorState, APlaceIsMonitoredUntilItsGoodbye) {
  const detection_tree hosts = hosts_of({"a", "a"});
  detector_state zero(hosts, 0, 10s, 0s);
  zero.on_own_done();
  zero.on_done(1);
  EXPECT_TRUE(zero.all_done());
  zero.on_connection_end(1, 1s);
  EXPECT_EQ(zero.next(1s).what, kind::report);
  EXPECT_FALSE(zero.all_left());
}

TEST(DetectorState, ADonePlaceIsStillMonitored) {
  const detection_tree hosts = hosts_of({"a", "a", "a"});
  detector_state zero(hosts, 0, 10s, 0s);
  zero.on_own_done();
  zero.on_done(1);
  zero.on_connection_end(1, 1s);
  EXPECT_EQ(zero.next(1s).what, kind::report);
  zero.on_done(2);
  EXPECT_FALSE(zero.all_done());
}

}  // namespace
