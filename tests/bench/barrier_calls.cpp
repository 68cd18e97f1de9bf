// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include <apgas/apgas.hpp>

#include "barrier_calls.hpp"
#include "machine.hpp"

namespace bench {
namespace {

using clock = std::chrono::steady_clock;

// A count of the tasks in this process, which is one place or all of them.
std::atomic<std::int64_t> seen{0};

// The sum over all places; resets the counts.
std::int64_t take_seen() {
  std::int64_t sum = 0;
  for (const apgas::place p : apgas::places()) sum += apgas::at(p, [] { return seen.exchange(0); });
  return sum;
}

template <class Round>
double seconds_of(int rounds, Round round) {
  const auto begin = clock::now();
  for (int i = 0; i < rounds; ++i) round(i);
  return std::chrono::duration<double>(clock::now() - begin).count();
}

void advance(const apgas::clock& c, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    seen.fetch_add(c.phase() == i + 1, std::memory_order_relaxed);
    c.advance();
  }
}

}  // namespace

sample finishes_over_all(int rounds) {
  const double seconds = seconds_of(rounds, [](int) {
    apgas::finish([] {
      for (const apgas::place p : apgas::places()) {
        apgas::async_at(p, [] { seen.fetch_add(1, std::memory_order_relaxed); });
      }
    });
  });
  return {seconds, take_seen() == std::int64_t{rounds} * apgas::num_places()};
}

sample phases_over(int places, int rounds) {
  double seconds = 0;
  apgas::finish([&] {
    const apgas::clock c = apgas::clock::make();
    for (int p = 1; p < places; ++p) {
      apgas::async_at(
          apgas::place(p % apgas::num_places()), apgas::clocked(c),
          [](const apgas::clock& mine, int n) {
            mine.advance();  // all tasks have arrived
            advance(mine, n);
          },
          c, rounds);
    }
    c.advance();
    seconds = seconds_of(1, [&](int) { advance(c, rounds); });
  });
  return {seconds, take_seen() == std::int64_t{rounds} * places};
}

sample calls_to_last(int rounds) {
  const apgas::place last(apgas::num_places() - 1);
  bool correct = true;
  const double seconds = seconds_of(rounds, [&](int i) {
    const auto sent = static_cast<std::uint64_t>(i);
    correct &= apgas::at(last, [](std::uint64_t v) { return v + 1; }, sent) == sent + 1;
  });
  return {seconds, correct};
}

double idle_cores(double seconds, bool one_process) {
  std::vector<apgas::future<double>> places;
  for (const apgas::place p : apgas::places()) {
    places.push_back(apgas::async_future_at(
        p,
        [](double length) {
          const double cpu = process_cpu_seconds();
          const auto begin = clock::now();
          apgas::sleep_for(std::chrono::duration<double>(length));
          const std::chrono::duration<double> took = clock::now() - begin;
          return (process_cpu_seconds() - cpu) / took.count();
        },
        seconds));
  }
  double sum = 0;
  for (auto& share : places) sum += share.get();
  return one_process ? sum / static_cast<double>(places.size()) : sum;
}

}  // namespace bench
