// SPDX-License-Identifier: Apache-2.0

// Endpoints used by many threads at the same time.

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/comm/endpoint.hpp>

#include "support/two_places.hpp"

namespace {

using namespace apgas_test;

class endpoint_threads : public two_places {};

// Several threads of each place send to all places while one thread per place polls. Frames of one
// thread to one place arrive in order.
TEST_F(endpoint_threads, many_threads_may_send) {
  constexpr std::uint64_t frames = 4000;
  constexpr std::uint64_t threads = 3;
  start();
  std::atomic<std::uint64_t> running{2 * threads};
  {
    std::vector<std::jthread> workers;
    for (std::uint64_t t = 0; t < 2 * threads; ++t) {
      workers.emplace_back([&, t] {
        const std::size_t from = t % 2;
        for (std::uint64_t i = 0; i < frames; ++i) {
          send(from, static_cast<comm::rank>(i % 2), std::string((i * 31) % 300, 'm'), t << 32 | i);
          if (i % 1000 == 999) send(from, static_cast<comm::rank>(i % 2), std::string(9000, 'M'));
          if (i % 512 == 0) at(from).flush();
        }
        --running;
      });
    }
    for (std::size_t place = 0; place < 2; ++place) {
      workers.emplace_back([&, place] {
        while (running != 0) {
          at(place).progress();
          std::this_thread::yield();
        }
      });
    }
  }
  for (auto& each : endpoints) each->flush();
  deliver_all();
  std::uint64_t total = 0;
  for (std::size_t place = 0; place < 2; ++place) {
    std::vector<std::uint64_t> next(2 * threads, place);
    for (const recorded& frame : sink(place).frames) {
      if (frame.payload.size() == 9000) continue;
      const std::uint64_t thread = frame.header.finish >> 32;
      ASSERT_EQ(frame.header.finish & 0xffffffff, next[thread]);
      ASSERT_EQ(frame.source, static_cast<comm::rank>(thread % 2));
      next[thread] += 2;
      ++total;
    }
  }
  EXPECT_EQ(total, 2 * threads * frames);
}

TEST_F(endpoint_threads, concurrent_progress_delivers_once) {
  start();
  std::atomic<bool> stop{false};
  {
    std::vector<std::jthread> pollers;
    for (int i = 0; i < 3; ++i) {
      pollers.emplace_back([&] {
        while (!stop) {
          at(1).progress();
          std::this_thread::yield();
        }
      });
    }
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      send(0, 1, "p", i);
      if (i % 64 == 0) at(0).progress();
    }
    at(0).flush();
    while (at(0).queued_bytes(1) != 0) std::this_thread::yield();
    stop = true;
  }
  deliver_all();
  ASSERT_EQ(sink(1).frames.size(), 20'000u);
  for (std::uint64_t i = 0; i < 20'000; ++i) ASSERT_EQ(sink(1).frames[i].header.finish, i);
}

}  // namespace
