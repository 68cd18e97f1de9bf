// SPDX-License-Identifier: Apache-2.0

// Tasks that an endpoint adds to a frame which waits to be sent.

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/comm/endpoint.hpp>
#include <apgas/comm/handler.hpp>
#include <apgas/comm/task_list.hpp>

#include "support/two_places.hpp"

namespace {

using namespace apgas_test;
using namespace std::chrono_literals;

int added_task(int x) { return x; }

class added_tasks : public two_places {
 protected:
  void start_with(std::chrono::nanoseconds max_delay) {
    comm::endpoint_options options;
    options.max_delay = max_delay;
    start(options);
    header.kind = comm::frame_kind::task;
    header.handler = comm::id_of<&added_task>();
  }
  bool add(const std::string& payload) {
    return at(0).add_task(1, header, bytes_of(payload), added);
  }

  comm::frame_header header = control_header();
  apgas::base::atomic<std::uint64_t> added{0};
};

TEST_F(added_tasks, tasks_are_added_to_a_frame_that_waits) {
  start_with(1h);
  const auto payload = [](std::uint64_t i) { return "prefix  " + std::to_string(1000 + i); };
  at(0).send(1, header, bytes_of(payload(0)));  // is sent at once
  EXPECT_FALSE(add(payload(1)));
  at(0).send(1, header, bytes_of(payload(1)));
  std::uint64_t alike = 2;
  while (add(payload(alike))) ++alike;
  EXPECT_GT(alike, 100U);                                        // a kilobyte of them
  EXPECT_EQ(added.load(apgas::base::relaxed), 8 * (alike - 1));  // and the list
  send(0, 1, "the next");
  EXPECT_FALSE(add(payload(0)));
  deliver_all();
  const std::vector<recorded>& frames = sink(1).frames;
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames[1].header.kind, comm::frame_kind::tasks);
  const comm::frame_tasks tasks(frames[1].header.kind, bytes_of(frames[1].payload));
  ASSERT_EQ(tasks.count(), alike - 1);
  for (std::uint32_t i = 0; i < tasks.count(); ++i) {
    const auto element = tasks.element(i);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(element.data()), element.size()),
              std::to_string(1001 + i));
  }
  EXPECT_FALSE(add(payload(0)));
}

TEST_F(added_tasks, a_frame_that_tasks_are_added_to_is_sent_after_the_longest_delay) {
  start_with(100ms);
  const auto delayed = [&] {
    return at(0).traffic_with(1).flushes[static_cast<std::size_t>(comm::flush_reason::delayed)];
  };
  const std::string payload(16, 'x');
  send(0, 1, "in flight");
  int tasks = 0;
  while (!add(payload)) {
    at(0).send(1, header, bytes_of(payload));
    ASSERT_LT(++tasks, 100);
  }
  const std::uint64_t before = delayed();
  const bool waits = at(0).has_batch();
  std::this_thread::sleep_for(150ms);
  for (tasks = 1; at(0).has_batch(); ++tasks) {  // the clock is not read for each task
    ASSERT_LT(tasks, 20);
    EXPECT_TRUE(add(payload));
  }
  EXPECT_EQ(delayed(), before + (waits ? 1 : 0));
}

}  // namespace
