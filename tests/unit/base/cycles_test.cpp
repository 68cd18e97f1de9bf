// SPDX-License-Identifier: Apache-2.0
#include <apgas/base/cycles.hpp>

#include <atomic>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

namespace apgas::base {
namespace {

TEST(cycles, after_loads_are_not_before_the_times_of_other_threads) {
  std::atomic<std::uint64_t> written{cycles()};
  std::atomic<bool> ends{false};
  std::thread writer([&] {
    for (int i = 0; i < 3'000'000; ++i) written.store(cycles(), std::memory_order_release);
    ends.store(true);
  });
  int early = 0;
  while (!ends.load()) {
    const std::uint64_t seen = written.load(std::memory_order_acquire);
    early += cycles_after_loads() < seen ? 1 : 0;
  }
  writer.join();
  EXPECT_EQ(early, 0);
}

}  // namespace
}  // namespace apgas::base
