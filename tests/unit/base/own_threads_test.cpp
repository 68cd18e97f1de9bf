// SPDX-License-Identifier: Apache-2.0
#include <apgas/base/own_threads.hpp>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

namespace apgas::base {
namespace {

// Waits a little, since a thread that has been joined may be listed for a moment longer.
void expect_foreign_threads(int n) {
  for (int i = 0; i < 2000 && foreign_threads() != n; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(foreign_threads(), n);
}

TEST(own_threads, one_that_starts_counts_while_its_object_lives) {
  const int before = foreign_threads();
  std::thread([&] {
    EXPECT_EQ(foreign_threads(), before + 1);
    {
      const own_thread outer;
      EXPECT_EQ(foreign_threads(), before);
      std::optional<own_thread> inner(std::in_place);
      std::optional<own_thread> other(std::in_place);
      inner.reset();
      EXPECT_EQ(foreign_threads(), before);
    }
    EXPECT_EQ(foreign_threads(), before + 1);
  }).join();
  expect_foreign_threads(before);
}

TEST(own_threads, those_of_another_library_count_while_they_live) {
  const int before = foreign_threads();
  std::optional<threads_start> starts(std::in_place);
  std::atomic<bool> started{false};
  std::thread of_library([&] {
    while (!started) std::this_thread::yield();
    EXPECT_EQ(foreign_threads(), before);
  });
  starts.reset();
  started = true;
  of_library.join();
  std::thread([&] { expect_foreign_threads(before + 1); }).join();
}

}  // namespace
}  // namespace apgas::base
