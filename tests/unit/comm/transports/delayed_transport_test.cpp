// SPDX-License-Identifier: Apache-2.0

// The transport that delays messages, around the local one: what it keeps of the contract, and that
// it does what tests want of it. transport_test runs with it, too, over every transport.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/comm/transports.hpp>
#include <apgas/errors.hpp>

#include "delayed_transport.hpp"

namespace {

using namespace apgas::comm;
using namespace std::chrono_literals;

struct arrivals final : message_sink {
  struct arrival {
    rank source;
    std::uint64_t number;
  };
  std::vector<arrival> all;
  void on_message(rank source, buffer message) noexcept override {
    std::uint64_t number = 0;
    std::memcpy(&number, message.data(), sizeof(number));
    all.push_back({source, number});
  }
};

// Ranks of one process, of which each has a delayed transport.
struct delayed_ranks {
  explicit delayed_ranks(int size, delay_options options) : fabric(size) {
    for (rank r = 0; r < size; ++r) {
      ranks.push_back(std::make_unique<delayed_transport>(fabric.at(r), options));
    }
  }
  transport& operator[](rank r) { return *ranks[static_cast<std::size_t>(r)]; }

  void send(rank from, rank to, std::uint64_t number) {
    buffer block = fabric.pool().get(sizeof(number));
    std::memcpy(block.data(), &number, sizeof(number));
    block.resize(sizeof(number));
    (*this)[from].send(to, std::move(block));
  }

  local_fabric fabric;
  std::vector<std::unique_ptr<delayed_transport>> ranks;
};

// The end of a run at all ranks, by this thread.
void end(delayed_ranks& ranks, message_sink& sink) {
  for (auto& each : ranks.ranks) each->begin_barrier();
  for (bool over = false; !over;) {
    over = true;
    for (auto& each : ranks.ranks) {
      each->progress(sink);
      over &= each->barrier_done();
    }
  }
}

TEST(delayed_transport, a_pair_keeps_its_order_and_pairs_do_not) {
  constexpr std::uint64_t messages = 200;
  delayed_ranks ranks(3, {.longest = 200us, .seed = 7});
  arrivals sink;
  for (std::uint64_t i = 0; i < messages; ++i) {
    for (rank from = 0; from < 2; ++from) {  // in turn: so they would come, were none delayed
      ranks.send(from, 2, i);
      ranks[from].progress(sink);
    }
  }
  while (sink.all.size() < 2 * messages) {
    for (rank r = 0; r < 3; ++r) ranks[r].progress(sink);
  }
  std::uint64_t next[2] = {};
  std::uint64_t most_ahead = 0;
  for (const auto& [source, number] : sink.all) {
    ASSERT_EQ(number, next[source]++);
    most_ahead = std::max(most_ahead, next[source] - std::min(next[source], next[1 - source]));
  }
  EXPECT_GT(most_ahead, 1u);  // one overtook messages of the other
  end(ranks, sink);
}

// One look lets at most one message through that waits: its time is counted from the one before.
TEST(delayed_transport, what_waits_counts_as_queued) {
  delayed_ranks ranks(2, {.longest = 20ms, .seed = 1});
  arrivals sink;
  constexpr std::uint64_t messages = 64;
  for (std::uint64_t i = 0; i < messages; ++i) ranks.send(0, 1, i);
  EXPECT_EQ(ranks[0].queued_bytes(1), messages * sizeof(std::uint64_t));
  ranks[0].progress(sink);
  ranks[1].progress(sink);
  ranks[0].progress(sink);  // notices what the receiver took
  EXPECT_LT(sink.all.size(), messages);
  EXPECT_EQ(ranks[0].queued_bytes(1), (messages - sink.all.size()) * sizeof(std::uint64_t));
  EXPECT_EQ(ranks[0].unsent_bytes(), ranks[0].queued_bytes(1));
  EXPECT_EQ(ranks[0].queued_bytes(0), 0u);
  end(ranks, sink);
  EXPECT_EQ(sink.all.size(), messages);
  EXPECT_EQ(ranks[0].unsent_bytes(), 0u);
}

// How many messages of those posted together come at the first look, for each destination.
std::vector<std::size_t> at_once(std::uint64_t seed) {
  constexpr int size = 8;
  delayed_ranks ranks(size, {.longest = 100us, .seed = seed});
  std::vector<std::size_t> counts;
  for (rank to = 0; to < size; ++to) {
    for (std::uint64_t i = 0; i < 40; ++i) ranks.send(0, to, i);
  }
  arrivals others;
  ranks[0].progress(others);
  counts.push_back(others.all.size());
  for (rank to = 1; to < size; ++to) {
    arrivals here;
    ranks[to].progress(here);
    counts.push_back(here.all.size());
  }
  end(ranks, others);
  return counts;
}

TEST(delayed_transport, the_seed_tells_which_messages_wait) {
  const std::vector<std::size_t> first = at_once(5);
  EXPECT_EQ(first, at_once(5));
  EXPECT_NE(first, at_once(6));
  EXPECT_NE(std::ranges::count(first, first[0]), 8);  // destinations differ
}

TEST(delayed_transport, wakes_the_owner_when_the_transport_inside_does) {
  delayed_ranks ranks(2, {.longest = 1us, .seed = 1});
  int woken = 0;
  ranks[1].set_wake([](void* counter) { ++*static_cast<int*>(counter); }, &woken);
  EXPECT_FALSE(ranks[1].wakes_on_arrival());
  arrivals sink;
  ranks.send(0, 1, 7);
  EXPECT_EQ(woken, 0);
  while (woken == 0) ranks[0].progress(sink);
  EXPECT_TRUE(ranks[1].progress(sink));
  EXPECT_EQ(sink.all.size(), 1u);
  end(ranks, sink);
}

// Each rank is a thread; whoever is done first finds messages of the others on their way.
TEST(delayed_transport, nothing_crosses_the_end_of_a_run) {
  constexpr int size = 3;
  constexpr std::uint64_t messages = 30;
  delayed_ranks ranks(size, {.longest = 300us, .seed = 11});
  std::vector<std::jthread> threads;
  for (rank r = 0; r < size; ++r) {
    threads.emplace_back([&ranks, r] {
      for (std::uint64_t run = 0; run < 20; ++run) {
        const std::byte record{1};
        ranks[r].begin_exchange({&record, 1});
        std::vector<std::byte> all;
        while (!ranks[r].exchange_done(all)) std::this_thread::yield();
        arrivals sink;
        for (std::uint64_t i = 0; i < messages; ++i) {
          for (rank to = 0; to < size; ++to) ranks.send(r, to, run);
        }
        ranks[r].begin_barrier();
        while (!ranks[r].barrier_done()) {
          if (!ranks[r].progress(sink)) std::this_thread::yield();
        }
        EXPECT_EQ(ranks[r].unsent_bytes(), 0u);
        ASSERT_EQ(sink.all.size(), messages * size);
        for (const auto& each : sink.all) ASSERT_EQ(each.number, run);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(ranks.fabric.pool().outstanding(), 0u);
}

struct asked_for {
  explicit asked_for(const char* longest, const char* seed = "0") {
    // NOLINTBEGIN(concurrency-mt-unsafe): no other thread
    setenv("APGAS_TEST_DELAY", longest, 1);
    setenv("APGAS_TEST_DELAY_SEED", seed, 1);
    // NOLINTEND(concurrency-mt-unsafe)
  }
  asked_for(const asked_for&) = delete;
  asked_for& operator=(const asked_for&) = delete;
  ~asked_for() {
    // NOLINTBEGIN(concurrency-mt-unsafe): no other thread
    unsetenv("APGAS_TEST_DELAY");
    unsetenv("APGAS_TEST_DELAY_SEED");
    // NOLINTEND(concurrency-mt-unsafe)
  }
};

TEST(delayed_transport, only_where_the_environment_asks) {
  local_fabric fabric(1);
  EXPECT_EQ(delayed_for_tests(fabric.at(0)), nullptr);
  const asked_for some("50", "12");
  testing::internal::CaptureStderr();
  EXPECT_NE(delayed_for_tests(fabric.at(0)), nullptr);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "apgas: messages are delayed by up to 50 us, APGAS_TEST_DELAY_SEED=12\n");
}

TEST(delayed_transport, refuses_what_is_no_time) {
  local_fabric fabric(1);
  for (const char* wrong : {"", "0", "x", "1000001"}) {
    const asked_for that(wrong);
    EXPECT_THROW(delayed_for_tests(fabric.at(0)), apgas::launch_error) << wrong;
  }
  const asked_for seed("1", "-1");
  EXPECT_THROW(delayed_for_tests(fabric.at(0)), apgas::launch_error);
}

}  // namespace
