// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include <apgas/base/cycles.hpp>
#include <apgas/base/membarrier.hpp>

#include "parker.hpp"

// machine_probe: measures on two cores what machine_model.hpp needs, and prints the least of many
// tries as a line of JSON, in ns. It needs two cores that are mostly free.
namespace {

using apgas::base::cycles;

constexpr int tries = 20'000;
std::atomic<int> turn{0};
std::atomic<bool> stops{false};

double ns_of_cycle() {
  const auto begun = std::chrono::steady_clock::now();
  const std::uint64_t from = cycles();
  while (std::chrono::steady_clock::now() - begun < std::chrono::milliseconds{20}) {
  }
  const std::chrono::duration<double, std::nano> all = std::chrono::steady_clock::now() - begun;
  return all.count() / static_cast<double>(cycles() - from);
}

// A line that goes to another thread and back.
std::uint64_t least_round_trip() {
  std::uint64_t least = ~std::uint64_t{0};
  for (int i = 0; i < tries; ++i) {
    const std::uint64_t from = cycles();
    turn.store(1, std::memory_order_release);
    while (turn.load(std::memory_order_acquire) != 0) {
    }
    least = std::min(least, cycles() - from);
  }
  return least;
}

}  // namespace

int main() {
  const double ns = ns_of_cycle();
  std::thread other([] {
    while (!stops.load(std::memory_order_relaxed)) {
      if (turn.load(std::memory_order_acquire) == 1) turn.store(0, std::memory_order_release);
    }
  });
  const double transfer = ns * static_cast<double>(least_round_trip()) / 2;
  std::uint64_t barrier = ~std::uint64_t{0};
  for (int i = 0; i < tries / 10; ++i) {
    const std::uint64_t from = cycles();
    apgas::base::membarrier();
    barrier = std::min(barrier, cycles() - from);
  }
  stops = true;
  other.join();

  apgas::scheduler::parker sleeper;
  std::atomic<std::uint64_t> woken_at{0};
  std::thread sleeps([&] {
    for (int i = 0; i < 200; ++i) {
      static_cast<void>(sleeper.park(std::chrono::nanoseconds::max()));
      woken_at = cycles();
    }
  });
  std::uint64_t call = ~std::uint64_t{0};
  std::uint64_t latency = call;
  for (int i = 0; i < 200; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    woken_at = 0;
    const std::uint64_t from = cycles();
    sleeper.unpark();
    call = std::min(call, cycles() - from);
    std::uint64_t at = 0;
    while ((at = woken_at) == 0) {
    }
    latency = std::min(latency, at - from);
  }
  sleeps.join();
  std::printf(
      "{\"transfer_ns\": %.0f, \"membarrier_ns\": %.0f, \"wake_call_ns\": %.0f, \"wake_ns\": "
      "%.0f}\n",
      transfer, ns * static_cast<double>(barrier), ns * static_cast<double>(call),
      ns * static_cast<double>(latency));
}
