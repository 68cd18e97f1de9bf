// SPDX-License-Identifier: Apache-2.0
// The phase counter by itself: what each event returns, and the assertions that guard the counter.
#include <apgas/sync/phase_counter.hpp>

#include <cstdint>

#include <gtest/gtest.h>

namespace {

using apgas::sync::phase_counter;
using change = phase_counter::change;

TEST(phase_counter, a_phase_is_complete_when_the_last_signaller_has_signalled) {
  phase_counter c;
  EXPECT_EQ(c.join(0, 2), change::reopened);
  EXPECT_EQ(c.join(0), change::none);
  EXPECT_EQ(c.signal(0), change::none);
  EXPECT_EQ(c.record(0, 1, 1), change::completed);
  EXPECT_EQ(c.signallers(), 2);
  EXPECT_EQ(c.advance_phase(), change::none);
  EXPECT_EQ(c.phase(), 1);
  EXPECT_EQ(c.unarrived(), 2);
  EXPECT_EQ(c.leave(1, 2), change::completed);
  EXPECT_EQ(c.signallers(), 0);
  EXPECT_EQ(c.advance_phase(), change::completed);
}

TEST(phase_counter, signals_ahead_are_kept_for_their_phases) {
  phase_counter c;
  constexpr std::int64_t ahead = 100;
  static_cast<void>(c.join(0, 2));
  for (std::int64_t p = 0; p < ahead; ++p) EXPECT_EQ(c.signal(p), change::none);
  for (std::int64_t p = 0; p < ahead; ++p) {
    EXPECT_EQ(c.unarrived(), 1);
    EXPECT_EQ(c.signal(p), change::completed);
    static_cast<void>(c.advance_phase());
  }
  EXPECT_EQ(c.unarrived(), 2);
  EXPECT_EQ(c.leave(ahead, 2), change::completed);
}

TEST(phase_counter, an_early_signaller_is_unarrived_in_the_next_phase) {
  phase_counter c;
  static_cast<void>(c.join(0));
  EXPECT_EQ(c.signal(0), change::completed);
  EXPECT_EQ(c.join(1), change::none);
  EXPECT_EQ(c.unarrived(), 0);
  EXPECT_EQ(c.advance_phase(), change::none);
  EXPECT_EQ(c.unarrived(), 2);
}

// A leaf completes, and then a task joins it from another leaf. The parent is told of the second
// event first.
TEST(phase_counter, a_child_may_rejoin_before_its_signal_arrives) {
  phase_counter parent;
  static_cast<void>(parent.join(1, 2));
  EXPECT_EQ(parent.rejoin(), change::reopened);
  EXPECT_EQ(parent.rejoin(), change::none);
  EXPECT_EQ(parent.rejoin(), change::none);   // the first child: complete, and unarrived again
  EXPECT_EQ(parent.signal(0), change::none);  // the completion that it reported before
  EXPECT_EQ(parent.unarrived(), 2);
  EXPECT_EQ(parent.signal(0), change::none);
  EXPECT_EQ(parent.signal(0), change::completed);
  EXPECT_EQ(parent.advance_phase(), change::none);
  EXPECT_EQ(parent.unarrived(), 2);
}

TEST(phase_counter_death, too_many_signals) {
  phase_counter c;
  static_cast<void>(c.join(0));
  EXPECT_DEATH(static_cast<void>(c.signal(0, 2)), "more tasks signalled a phase than take part");
}

TEST(phase_counter_death, a_phase_that_is_over) {
  phase_counter c;
  static_cast<void>(c.advance_phase());
  EXPECT_DEATH(static_cast<void>(c.join(0)), "counted at a phase that is over");
}

TEST(phase_counter_death, a_phase_advance_before_all_have_signalled) {
  phase_counter c;
  static_cast<void>(c.join(0));
  EXPECT_DEATH(static_cast<void>(c.advance_phase()), "a phase ended before all had signalled");
}

}  // namespace
