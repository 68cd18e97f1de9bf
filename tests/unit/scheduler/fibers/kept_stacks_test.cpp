// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <apgas/base/atomic.hpp>

#include "stack_pool.hpp"
#include "support/scheduler_fixture.hpp"

// All workers of a process share its stacks.
namespace apgas::test {
namespace {

TEST(KeptStacks, AreAQuarterOfAllHoweverManyWorkersThereAre) {
  const auto kept = [] { return scheduler::kept_stacks_max.load(base::relaxed); };
  constexpr int stacks = APGAS_SANITIZED != 0 ? 1 << 14 : 1 << 20;
  constexpr int most = APGAS_SANITIZED != 0 ? 64 : 1024;
  constexpr int workers = stacks / 4 / most + 50;
  const task_place few(2);
  EXPECT_EQ(kept(), most);
  {
    scheduler::config settings = task_place::config_for(workers);
    settings.oversubscribed = true;
    const task_place many(settings);
    EXPECT_LE(kept() * (workers + 2), stacks / 4);
    EXPECT_GT(kept(), most / 2);
  }
  EXPECT_EQ(kept(), most);
}

}  // namespace
}  // namespace apgas::test
