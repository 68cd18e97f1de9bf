// SPDX-License-Identifier: Apache-2.0
// The cache lines of a scheduler that all workers share: what is written often lies on no line that
// every choice of every worker reads (docs/scaling.md).
#include <cstdint>
#include <set>

#include <gtest/gtest.h>

#include "implementation.hpp"
#include "support/scheduler_fixture.hpp"

namespace apgas::test {
namespace {

template <class T>
std::uintptr_t line_of(const T& of) {
  return reinterpret_cast<std::uintptr_t>(&of) / base::cache_line_bytes;
}

TEST(SharedLines, AreDividedByThoseWhoWriteThem) {
  task_place place(1);
  const auto& s = place.tasks().internals();
  const std::uintptr_t read_by_each_choice = line_of(s.arrived);
  EXPECT_EQ(line_of(s.preferred_external_tasks), read_by_each_choice);
  EXPECT_EQ(line_of(s.stopping), read_by_each_choice);
  EXPECT_EQ(line_of(s.halted), read_by_each_choice);
  EXPECT_EQ(line_of(s.oversubscribed), read_by_each_choice) << "and by each round of a search";

  EXPECT_EQ(line_of(s.polls), line_of(s.poller_lock)) << "a poll writes both";

  const std::set lines{read_by_each_choice, line_of(s.idle),        line_of(s.outside),
                       line_of(s.timed),    line_of(s.poller_lock), line_of(s.external_calls),
                       line_of(s.settings), line_of(s.polls_seen),  line_of(s.cores)};
  EXPECT_EQ(lines.size(), 9U);
  EXPECT_GT(sizeof s.idle, base::cache_line_bytes) << "producers read a line of their own";
}

}  // namespace
}  // namespace apgas::test
