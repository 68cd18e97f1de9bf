// SPDX-License-Identifier: Apache-2.0

// Tasks that are added to a frame which waits to be written into a ring.

#include <cstdint>
#include <cstring>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/base/atomic.hpp>
#include <apgas/comm/task_list.hpp>

#include "support/shared_ranks.hpp"

namespace {

using namespace apgas_test;
using apgas::base::atomic;

// A message that does not fit into the ring holds up the frames behind it, so they are joined.
TEST(ShmTransport, TasksAreAddedToAFrameThatWaits) {
  struct lists_sink final : message_sink {
    void on_message(rank, buffer message) noexcept override {
      frame_header header;
      std::memcpy(&header, message.data(), sizeof header);
      if (header.kind != frame_kind::tasks) return;
      EXPECT_EQ(message.size(), frame_bytes(header.length));
      const std::span payload(message.data() + sizeof header, header.length);
      ASSERT_TRUE(is_task_list(payload));
      const frame_tasks tasks(header.kind, payload);
      for (std::uint32_t i = 0; i < tasks.count(); ++i) {
        std::uint64_t number = 0;
        std::memcpy(&number, tasks.element(i).data(), sizeof number);
        in_order &= number == next++;
      }
    }
    std::uint64_t next = 0;
    bool in_order = true;
  } sink;
  shared_ranks ranks(2);
  messages_sink none(2);
  const frame_header header{.kind = frame_kind::task, .flags = 2, .handler = 1, .finish = 2};
  atomic<std::uint64_t> added{0};
  std::uint64_t payload[2] = {3, 0};
  const auto bytes = std::as_bytes(std::span(payload));
  EXPECT_FALSE(ranks[0].add_task(1, header, bytes, added));  // nothing waits
  ranks[0].send(1, made(ranks[0].pool(), 0, std::size_t{1} << 20));
  ranks[0].write(1, header, bytes);
  const std::uint64_t before = ranks[0].written(1).bytes;
  constexpr std::uint64_t tasks = 1000;
  for (payload[1] = 1; payload[1] < tasks; ++payload[1]) {
    EXPECT_TRUE(ranks[0].add_task(1, header, bytes, added));
  }
  EXPECT_EQ(added.load(apgas::base::relaxed), 8 * tasks);  // 999 elements, and the list
  EXPECT_EQ(ranks[0].written(1).bytes, before + 8 * tasks);
  EXPECT_EQ(ranks[0].written(1).frames, 1U);
  while (sink.next < tasks) {
    ranks[0].progress(none);
    ranks[1].progress(sink);
  }
  EXPECT_TRUE(sink.in_order);
  EXPECT_FALSE(ranks[0].add_task(1, header, bytes, added));
}

// A long message takes the frames before it out of the batch to which tasks are being added.
TEST(ShmTransport, TasksAreAddedWhileOthersSend) {
  struct counting_sink final : message_sink {
    void on_message(rank, buffer message) noexcept override {
      for (std::size_t at = 0; at < message.size();) {
        frame_header header;
        std::memcpy(&header, message.data() + at, sizeof header);
        const std::span payload(message.data() + at + sizeof header, header.length);
        if (is_task_kind(header.kind)) tasks += frame_tasks(header.kind, payload).count();
        at += frame_bytes(header.length);
      }
    }
    std::uint64_t tasks = 0;
  } sink;
  shared_ranks ranks(2);
  messages_sink none(2);
  constexpr std::uint64_t tasks = 300'000;
  {
    const std::jthread adding([&] {
      const frame_header header{.kind = frame_kind::task, .flags = 2, .handler = 1, .finish = 2};
      const std::uint64_t payload[2] = {3, 4};
      const auto bytes = std::as_bytes(std::span(payload));
      atomic<std::uint64_t> added{0};
      for (std::uint64_t i = 0; i < tasks; ++i) {
        if (!ranks[0].add_task(1, header, bytes, added)) ranks[0].write(1, header, bytes);
      }
    });
    const std::jthread sending([&] {
      const std::vector<std::byte> payload(40);
      for (int i = 0; i < 50'000; ++i) {
        buffer message = ranks[0].pool().get(frame_bytes(payload.size()));
        write_frame(message.data(), {.kind = frame_kind::control}, payload);
        message.resize(frame_bytes(payload.size()));
        ranks[0].send(1, std::move(message));
      }
    });
    while (sink.tasks < tasks) {
      ranks[0].progress(none);
      ranks[1].progress(sink);
    }
  }
  while (ranks[0].unsent_bytes() != 0) {
    ranks[0].progress(none);
    ranks[1].progress(sink);
  }
  EXPECT_EQ(sink.tasks, tasks);
}

}  // namespace
