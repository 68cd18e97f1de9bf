// SPDX-License-Identifier: Apache-2.0
// More tasks than fit in memory are sent to slower places. The senders must wait, and memory must
// stay below the limits that the settings give (1 MiB of tasks and 1 MiB of unsent messages, see
// CMakeLists.txt). With APGAS_TASK_WINDOW=64G, which switches flow control off, the test must fail.
//
// APGAS_TEST_FLOOD=n sends n tasks.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "check.hpp"

namespace {

using apgas::place;

// 400,000 of these take 140 MB, far more than a place may keep.
struct burden {
  std::array<std::uint64_t, 40> bytes;
};
constexpr std::size_t kept_at_most = std::size_t{16} << 20;

std::uint64_t flood() {
  static const std::uint64_t n =
      test::number_from_environment("APGAS_TEST_FLOOD", 400'000 / test::slower);
  return n;
}

// The peak of this process's memory in bytes since the previous call.
std::size_t peak_memory() {
  std::ifstream status("/proc/self/status");
  std::size_t kib = 0;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) kib = std::stoul(line.substr(6));
  }
  std::ofstream("/proc/self/clear_refs") << 5;
  return kib * 1024;
}

std::atomic<std::uint64_t> received{0};

// The first tasks together take a second, in which the sender could send all others if it did not
// wait.
void receive(const burden& b) {
  constexpr std::uint64_t slow_tasks = 20'000 / test::slower;
  constexpr auto slow = std::chrono::microseconds{50};
  if (received.fetch_add(b.bytes[7]) >= slow_tasks) return;
  const auto end = std::chrono::steady_clock::now() + slow;
  while (std::chrono::steady_clock::now() < end) {
  }
}

void send(place to, std::uint64_t tasks) {
  burden b{};
  b.bytes[7] = 1;
  for (std::uint64_t i = 0; i < tasks; ++i) {
    apgas::async_at(to, [](const burden& sent) { receive(sent); }, b);
  }
}

std::size_t prepare(place p) {
  return apgas::at(p, [] {
    received = 0;
    peak_memory();
    return peak_memory();
  });
}

bool in_one_process() {
  const char* transport = std::getenv("APGAS_TRANSPORT");  // NOLINT(concurrency-mt-unsafe)
  return transport != nullptr && std::string(transport) == "local";
}

// Places in one process share the counter and the memory.
std::uint64_t sharing() {
  return in_one_process() ? static_cast<std::uint64_t>(apgas::num_places()) : 1;
}

void expect_bounded(place p, std::size_t before, std::uint64_t tasks) {
  const auto [count, after] =
      apgas::at(p, [] { return std::array<std::uint64_t, 2>{received.load(), peak_memory()}; });
  EXPECT_EQ(count, tasks);
  const std::size_t grown = after > before ? after - before : 0;
  std::printf("place %d: %llu tasks of %zu bytes, %.1f MB more\n", p.id(),
              static_cast<unsigned long long>(tasks), sizeof(burden),
              static_cast<double>(grown) / 1e6);
  if (test::slower > 1) return;  // sanitizers keep freed memory
  EXPECT_LT(grown, sharing() * kept_at_most);
}

TEST(flood, a_slow_place_makes_the_sender_wait) {
  const std::size_t here = prepare(place(0));
  const std::size_t there = prepare(test::last());
  apgas::finish([] { send(test::last(), flood()); });
  expect_bounded(test::last(), there, flood());
  if (apgas::num_places() > 1 && !in_one_process()) expect_bounded(place(0), here, 0);
}

TEST(flood, places_flood_each_other) {
  std::vector<std::size_t> before;
  for (const place p : apgas::places()) before.push_back(prepare(p));
  apgas::finish([] {
    for (const place p : apgas::places()) {
      apgas::async_at(p, [] { send(test::next(apgas::here()), flood()); });
    }
  });
  for (const place p : apgas::places()) {
    expect_bounded(p, before[static_cast<std::size_t>(p.id())], sharing() * flood());
  }
}

// Each task that arrives sends one back. A task that waits to send must not keep others from
// starting.
TEST(flood, each_task_sends_one_back) {
  const std::size_t before = prepare(test::last());
  apgas::finish([] {
    for (const place p : apgas::places()) {
      apgas::async_at(p, [] {
        burden b{};
        b.bytes[7] = 1;
        for (std::uint64_t i = 0; i < flood(); ++i) {
          apgas::async_at(
              test::next(apgas::here()),
              [from = apgas::here()](const burden& question) {
                apgas::async_at(from, [](const burden& answer) { receive(answer); }, question);
              },
              b);
        }
      });
    }
  });
  expect_bounded(test::last(), before, sharing() * flood());
}

}  // namespace
