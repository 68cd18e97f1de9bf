// SPDX-License-Identifier: Apache-2.0

// Buffers: they are handed out, shared, returned and reused, and leaks are counted.

#include <apgas/comm/buffer.hpp>

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "block_cache.hpp"

namespace {

using namespace apgas::comm;

TEST(buffer_pool, reuses_a_returned_buffer) {
  buffer_pool pool;
  const std::byte* where = nullptr;
  {
    buffer block = pool.get(100);
    EXPECT_EQ(block.size(), 0u);
    EXPECT_GE(block.capacity(), 100u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data()) % 64, 0u);
    block.resize(50);
    where = block.data();
    EXPECT_EQ(pool.outstanding(), 1u);
  }
  EXPECT_EQ(pool.outstanding(), 0u);
  const buffer again = pool.get(200);
  EXPECT_EQ(again.data(), where);
  EXPECT_EQ(again.size(), 0u);
}

TEST(buffer_pool, hands_out_every_size) {
  buffer_pool pool;
  for (std::size_t size = 1; size < (std::size_t{1} << 21); size = size * 3 / 2 + 1) {
    buffer block = pool.get(size);
    ASSERT_GE(block.capacity(), size);
    block.data()[size - 1] = std::byte{1};
    EXPECT_EQ(pool.outstanding(), 1u);
  }
  EXPECT_EQ(pool.outstanding(), 0u);
}

TEST(buffer_pool, adopts_buffers_from_the_heap) {
  buffer_pool pool;
  for (const std::size_t size :
       {std::size_t{1} << 20, std::size_t{5000}, buffer_pool::large_bytes}) {
    buffer block(size);
    pool.adopt(block);
    EXPECT_EQ(pool.outstanding(), 1u);
    block = buffer{};
    EXPECT_EQ(pool.outstanding(), 0u);
  }
}

TEST(block_cache, serves_messages_and_archives) {
  buffer_pool pool;
  for (const std::size_t size : {std::size_t{25000}, std::size_t{1} << 20, std::size_t{8} << 20}) {
    const std::byte* where = nullptr;
    {
      buffer block = pool.get(size - 100);
      ASSERT_GE(block.capacity(), size - 100);
      ASSERT_LE(block.capacity(), size * 5 / 4 + 64);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data()) % 64, 0u);
      where = block.data();
      block.data()[block.capacity() - 1] = std::byte{1};
    }
    const buffer again(size - 64);
    EXPECT_EQ(again.data(), where);
  }
}

TEST(block_cache, keeps_a_limited_number_of_bytes) {
  for (int round = 0; round < 2; ++round) {
    std::vector<buffer> held;
    for (int i = 0; i < 100; ++i) held.emplace_back(std::size_t{1} << 20);
    held.clear();
    EXPECT_LE(bytes_kept(), kept_bytes_max);
    EXPECT_GT(bytes_kept(), kept_bytes_max / 2);
  }
  const std::size_t before = bytes_kept();
  {
    const buffer huge(std::size_t{100} << 20);
  }
  EXPECT_EQ(bytes_kept(), before);
}

TEST(inbound_buffer, lives_until_the_last_release) {
  buffer_pool pool;
  inbound_buffer* block = pool.get(10).detach();
  block->retain();
  block->retain(2);
  for (int i = 0; i < 3; ++i) {
    block->release();
    EXPECT_EQ(pool.outstanding(), 1u);
  }
  block->release();
  EXPECT_EQ(pool.outstanding(), 0u);
}

TEST(inbound_buffer, gives_up_several_references_at_once) {
  buffer_pool pool;
  inbound_buffer* block = pool.get(10).detach();
  block->retain(5);
  block->release(2);
  block->release(3);
  EXPECT_EQ(pool.outstanding(), 1u);
  block->release(1);
  EXPECT_EQ(pool.outstanding(), 0u);
}

TEST(reusable_buffer, is_handed_out_again_when_nobody_uses_it) {
  reusable_buffer one(100);
  buffer first = one.take();
  ASSERT_TRUE(first);
  EXPECT_GE(first.capacity(), 100u);
  first.resize(7);
  const std::byte* const memory = first.data();
  EXPECT_FALSE(one.take());
  inbound_buffer* const kept = first.detach();
  EXPECT_FALSE(one.take());
  kept->release();
  const buffer second = one.take();
  ASSERT_TRUE(second);
  EXPECT_EQ(second.data(), memory);
  EXPECT_EQ(second.size(), 0u);
}

// Two threads release the last two references at the same time, while the owner asks again and
// again.
TEST(reusable_buffer, is_not_handed_out_before_the_last_release_is_over) {
  reusable_buffer one(64);
  std::atomic<inbound_buffer*> shared[2] = {};
  std::atomic<bool> over{false};
  std::vector<std::jthread> threads;
  for (auto& mine : shared) {
    threads.emplace_back([&mine, &over] {
      while (!over) {
        inbound_buffer* const block = mine.exchange(nullptr);
        if (block == nullptr) {
          std::this_thread::yield();
          continue;
        }
        EXPECT_EQ(block->data()[0], std::byte{42});
        block->release();
      }
    });
  }
  for (int round = 0; round < 1'000; ++round) {
    buffer taken;
    while (!(taken = one.take())) std::this_thread::yield();
    taken.data()[0] = std::byte{42};
    inbound_buffer* const block = taken.detach();
    block->retain();
    for (auto& each : shared) each = block;
  }
  while (!one.take()) std::this_thread::yield();
  over = true;
}

TEST(inbound_buffer, may_be_released_by_many_threads) {
  buffer_pool pool;
  constexpr int holders = 4;
  for (int round = 0; round < 200; ++round) {
    buffer block = pool.get(64);
    block.data()[0] = std::byte{42};
    inbound_buffer* shared = block.detach();
    shared->retain(holders - 1);
    std::vector<std::jthread> threads;
    for (int i = 0; i < holders; ++i) {
      threads.emplace_back([shared] {
        EXPECT_EQ(shared->data()[0], std::byte{42});
        shared->release();
      });
    }
  }
  EXPECT_EQ(pool.outstanding(), 0u);
}

TEST(buffer_pool, may_be_used_by_many_threads) {
  buffer_pool pool;
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < 4; ++i) {
      threads.emplace_back([&pool, i] {
        for (unsigned k = 0; k < 2000; ++k) {
          buffer block = pool.get((k * 37 + i * 101) % 5000 + 1);
          block.data()[0] = static_cast<std::byte>(i);
          block.resize(1);
          ASSERT_EQ(block.data()[0], static_cast<std::byte>(i));
        }
      });
    }
  }
  EXPECT_EQ(pool.outstanding(), 0u);
}

TEST(buffer_pool_death, ends_the_job_if_a_buffer_is_not_returned) {
  EXPECT_DEATH(
      {
        buffer_pool pool;
        pool.get(10).detach();
      },
      "buffers are still in use");
}

}  // namespace
