// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include <gtest/gtest.h>

#include <apgas/apgas.hpp>

#include "check.hpp"

namespace {

using apgas::statistics;

TEST(Statistics, OfOnePlace) {
  const statistics s = apgas::stats();
  EXPECT_EQ(s.places, 1u);
  EXPECT_GE(s.workers, 1u);
  EXPECT_GT(s.elapsed_ns, 0u);
  EXPECT_GE(s.awake(), 0.0);
  EXPECT_LE(s.awake(), 1.0);
  EXPECT_EQ(s.task_frames_received + s.reply_frames_received + s.finish_frames_received +
                s.control_frames_received,
            s.frames_received);
}

TEST(Statistics, OfAllPlaces) {
  const statistics all = apgas::stats_all();
  const auto n = static_cast<std::uint64_t>(apgas::num_places());
  EXPECT_EQ(all.places, n);
  EXPECT_GE(all.workers, n);
}

TEST(Statistics, CountsSuspensions) {
  const std::uint64_t before = apgas::stats().suspensions;
  apgas::promise<void> later;
  auto done = later.get_future();
  apgas::finish([&] {
    apgas::async([&] { done.get(); });
    apgas::sleep_for(std::chrono::milliseconds(1));
    later.set_value();
  });
  EXPECT_GT(apgas::stats().suspensions, before);
}

TEST(Statistics, CountsFramesByKind) {
  if (apgas::num_places() == 1) return;  // no frames
  constexpr std::uint64_t calls = 100;
  const apgas::place other = test::last();
  const statistics here_before = apgas::stats();
  const statistics there_before = apgas::at(other, [] { return apgas::stats(); });
  for (std::uint64_t i = 0; i < calls; ++i) {
    apgas::at(other, [] {});
  }
  const statistics here = apgas::stats();
  const statistics there = apgas::at(other, [] { return apgas::stats(); });
  EXPECT_GE(here.frames_sent - here_before.frames_sent, calls);
  EXPECT_GE(here.reply_frames_received - here_before.reply_frames_received, calls);
  EXPECT_GE(there.task_frames_received - there_before.task_frames_received, calls);
  EXPECT_GE(there.bytes_received - there_before.bytes_received, calls * 32);
}

TEST(Statistics, SumsAreMadeFieldByField) {
  statistics sum{.places = 1, .workers = 2, .elapsed_ns = 5, .steals = 3};
  sum += statistics{.places = 1, .workers = 1, .elapsed_ns = 7, .steals = 4, .bytes_sent = 9};
  EXPECT_EQ(sum.places, 2u);
  EXPECT_EQ(sum.workers, 3u);
  EXPECT_EQ(sum.elapsed_ns, 7u) << "the longest time, not the sum";
  EXPECT_EQ(sum.steals, 7u);
  EXPECT_EQ(sum.bytes_sent, 9u);
}

TEST(Statistics, OutsideATask) {
  std::thread([] {
    EXPECT_THROW(apgas::stats(), apgas::illegal_operation);
    EXPECT_THROW(apgas::stats_all(), apgas::illegal_operation);
  }).join();
  apgas::atomic([] {
    EXPECT_NO_THROW(apgas::stats());
    EXPECT_THROW(apgas::stats_all(), apgas::illegal_operation);
  });
}

}  // namespace
