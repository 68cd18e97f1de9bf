// SPDX-License-Identifier: Apache-2.0

// The delaying transport around the local one: it keeps the contract of transports, and it delays
// messages. transport_test also runs with it, over every transport.

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

// Ranks in one process, each with a delaying transport.
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

// Ends a run at all ranks from this thread.
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

TEST(delayed_transport, order_is_kept_within_a_pair_only) {
  constexpr std::uint64_t messages = 200;
  delayed_ranks ranks(3, {.longest = 200us, .seed = 7});
  arrivals sink;
  for (std::uint64_t i = 0; i < messages; ++i) {
    for (rank from = 0; from < 2; ++from) {  // alternately, as they would arrive without delays
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
  EXPECT_GT(most_ahead, 1u);  // one sender's messages overtook the other's
  end(ranks, sink);
}

// One call passes on at most one message that is delayed, since the delay of the next one starts
// then.
TEST(delayed_transport, delayed_messages_count_as_queued) {
  delayed_ranks ranks(2, {.longest = 20ms, .seed = 1});
  arrivals sink;
  constexpr std::uint64_t messages = 64;
  for (std::uint64_t i = 0; i < messages; ++i) ranks.send(0, 1, i);
  EXPECT_EQ(ranks[0].queued_bytes(1), messages * sizeof(std::uint64_t));
  ranks[0].progress(sink);
  ranks[1].progress(sink);
  ranks[0].progress(sink);  // notices the messages that the receiver has taken
  EXPECT_LT(sink.all.size(), messages);
  EXPECT_EQ(ranks[0].queued_bytes(1), (messages - sink.all.size()) * sizeof(std::uint64_t));
  EXPECT_EQ(ranks[0].unsent_bytes(), ranks[0].queued_bytes(1));
  EXPECT_EQ(ranks[0].queued_bytes(0), 0u);
  end(ranks, sink);
  EXPECT_EQ(sink.all.size(), messages);
  EXPECT_EQ(ranks[0].unsent_bytes(), 0u);
}

// The number of messages, of those posted together, that arrive at the first call, for each
// destination.
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

TEST(delayed_transport, the_seed_determines_the_delays) {
  const std::vector<std::size_t> first = at_once(5);
  EXPECT_EQ(first, at_once(5));
  EXPECT_NE(first, at_once(6));
  EXPECT_NE(std::ranges::count(first, first[0]), 8);  // destinations differ
}

TEST(delayed_transport, forwards_wake_ups_of_the_inner_transport) {
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

// Each rank is a thread. The first one to finish finds messages of the others in flight.
TEST(delayed_transport, no_message_crosses_the_end_of_a_run) {
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

struct delay_variables {
  explicit delay_variables(const char* longest, const char* seed = "0") {
    // NOLINTBEGIN(concurrency-mt-unsafe): no other thread
    setenv("APGAS_TEST_DELAY", longest, 1);
    setenv("APGAS_TEST_DELAY_SEED", seed, 1);
    // NOLINTEND(concurrency-mt-unsafe)
  }
  delay_variables(const delay_variables&) = delete;
  delay_variables& operator=(const delay_variables&) = delete;
  ~delay_variables() {
    // NOLINTBEGIN(concurrency-mt-unsafe): no other thread
    unsetenv("APGAS_TEST_DELAY");
    unsetenv("APGAS_TEST_DELAY_SEED");
    // NOLINTEND(concurrency-mt-unsafe)
  }
};

TEST(delayed_transport, is_used_only_if_the_environment_asks) {
  local_fabric fabric(1);
  EXPECT_EQ(delayed_for_tests(fabric.at(0)), nullptr);
  const delay_variables some("50", "12");
  testing::internal::CaptureStderr();
  EXPECT_NE(delayed_for_tests(fabric.at(0)), nullptr);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "apgas: messages are delayed by up to 50 us, APGAS_TEST_DELAY_SEED=12\n");
}

TEST(delayed_transport, refuses_invalid_delays_and_seeds) {
  local_fabric fabric(1);
  for (const char* wrong : {"", "0", "x", "1000001"}) {
    const delay_variables invalid(wrong);
    EXPECT_THROW(delayed_for_tests(fabric.at(0)), apgas::launch_error) << wrong;
  }
  const delay_variables seed("1", "-1");
  EXPECT_THROW(delayed_for_tests(fabric.at(0)), apgas::launch_error);
}

}  // namespace
