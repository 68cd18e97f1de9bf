// SPDX-License-Identifier: Apache-2.0

// The transport between places of one process: order, threads, waking, the exchange and the end of
// a run.

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/comm/transports.hpp>

namespace {

using namespace apgas::comm;

struct numbers_sink final : message_sink {
  std::vector<std::pair<rank, std::uint64_t>> got;
  void on_message(rank source, buffer message) noexcept override {
    std::uint64_t number = 0;
    std::memcpy(&number, message.data(), sizeof(number));
    got.emplace_back(source, number);
  }
};

buffer numbered(buffer_pool& pool, std::uint64_t number) {
  buffer block = pool.get(sizeof(number));
  std::memcpy(block.data(), &number, sizeof(number));
  block.resize(sizeof(number));
  return block;
}

TEST(local_transport, describes_itself) {
  local_fabric fabric(3);
  EXPECT_EQ(fabric.size(), 3);
  for (rank r = 0; r < 3; ++r) {
    EXPECT_EQ(fabric.at(r).here(), r);
    EXPECT_EQ(fabric.at(r).size(), 3);
    EXPECT_EQ(fabric.at(r).name(), "local");
    EXPECT_TRUE(fabric.at(r).wakes_on_arrival());
  }
}

TEST(local_transport, a_message_is_complete_when_the_receiver_takes_it) {
  local_fabric fabric(2);
  numbers_sink sink;
  fabric.at(0).post(1, numbered(fabric.pool(), 7));
  EXPECT_EQ(fabric.at(0).queued_bytes(1), 8u);
  EXPECT_EQ(fabric.at(0).unsent_bytes(), 8u);
  EXPECT_TRUE(fabric.at(1).progress(sink));
  EXPECT_EQ(fabric.at(0).queued_bytes(1), 0u);
  EXPECT_FALSE(fabric.at(1).progress(sink));
  EXPECT_EQ(sink.got, (std::vector<std::pair<rank, std::uint64_t>>{{0, 7}}));
}

TEST(local_transport, undelivered_messages_are_freed) {
  local_fabric fabric(2);
  for (std::uint64_t i = 0; i < 10; ++i) fabric.at(0).post(1, numbered(fabric.pool(), i));
  EXPECT_EQ(fabric.pool().outstanding(), 10u);
}

TEST(local_transport, messages_of_many_threads_stay_in_order) {
  constexpr std::uint64_t messages = 5000;
  constexpr int senders = 3;
  local_fabric fabric(senders + 1);
  numbers_sink sink;
  {
    std::vector<std::jthread> threads;
    for (rank r = 1; r <= senders; ++r) {
      threads.emplace_back([&fabric, r] {
        for (std::uint64_t i = 0; i < messages; ++i) {
          fabric.at(r).send(0, numbered(fabric.pool(), i));
        }
      });
    }
    while (sink.got.size() < senders * messages) {
      if (!fabric.at(0).progress(sink)) std::this_thread::yield();
    }
  }
  std::vector<std::uint64_t> next(senders + 1);
  for (const auto& [source, number] : sink.got) {
    ASSERT_EQ(number, next[static_cast<std::size_t>(source)]++);
  }
}

TEST(local_transport, wakes_the_owner_on_arrival) {
  local_fabric fabric(2);
  std::atomic<int> woken{0};
  const transport::wake_function wake = [](void* counter) {
    ++*static_cast<std::atomic<int>*>(counter);
  };
  fabric.at(1).set_wake(wake, &woken);
  fabric.at(0).post(1, numbered(fabric.pool(), 1));
  EXPECT_EQ(woken, 1);
  fabric.at(1).post(0, numbered(fabric.pool(), 1));
  EXPECT_EQ(woken, 1);
  fabric.at(1).post(1, numbered(fabric.pool(), 1));
  EXPECT_EQ(woken, 2);
  fabric.at(1).set_wake(nullptr, nullptr);
  fabric.at(0).post(1, numbered(fabric.pool(), 1));
  EXPECT_EQ(woken, 2);
}

TEST(local_transport, ranks_exchange_records_any_number_of_times) {
  constexpr int size = 3;
  local_fabric fabric(size);
  std::vector<std::jthread> threads;
  for (rank r = 0; r < size; ++r) {
    threads.emplace_back([&fabric, r] {
      for (int round = 0; round < 50; ++round) {
        const std::byte mine[2] = {static_cast<std::byte>(r), static_cast<std::byte>(round)};
        fabric.at(r).begin_exchange(mine);
        std::vector<std::byte> all;
        while (!fabric.at(r).exchange_done(all)) std::this_thread::yield();
        ASSERT_EQ(all.size(), 2u * size);
        for (std::size_t i = 0; i < size; ++i) {
          ASSERT_EQ(all[2 * i], static_cast<std::byte>(i));
          ASSERT_EQ(all[2 * i + 1], static_cast<std::byte>(round));
        }
      }
    });
  }
}

// Messages arrive in the run in which they were sent, however the ranks are delayed at its end.
TEST(local_transport, no_message_crosses_the_end_of_a_run) {
  constexpr int size = 3;
  constexpr std::uint64_t runs = 40;
  local_fabric fabric(size);
  std::vector<std::jthread> threads;
  for (rank r = 0; r < size; ++r) {
    threads.emplace_back([&fabric, r] {
      transport& network = fabric.at(r);
      for (std::uint64_t run = 0; run < runs; ++run) {
        const std::byte record{1};
        network.begin_exchange({&record, 1});
        std::vector<std::byte> all;
        while (!network.exchange_done(all)) std::this_thread::yield();
        numbers_sink sink;
        for (rank to = 0; to < size; ++to) {
          for (int i = 0; i < 100; ++i) network.send(to, numbered(fabric.pool(), run));
        }
        network.begin_barrier();
        while (!network.barrier_done()) {
          network.progress(sink);
          std::this_thread::yield();
        }
        EXPECT_FALSE(network.progress(sink));
        ASSERT_EQ(sink.got.size(), 100u * size);
        for (const auto& [source, number] : sink.got) ASSERT_EQ(number, run);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(fabric.pool().outstanding(), 0u);
}

TEST(local_transport_death, abort_calls_the_hook_and_ends_the_process) {
  EXPECT_EXIT(local_fabric(1, [](int code) { std::_Exit(code + 1); }).at(0).abort(3),
              testing::ExitedWithCode(4), "");
  EXPECT_EXIT(local_fabric(1).at(0).abort(3), testing::ExitedWithCode(3), "");
}

}  // namespace
