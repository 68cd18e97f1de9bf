// SPDX-License-Identifier: Apache-2.0

// Sections that exclude each other, alone and contended, and a value handed from task to task.

#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include <apgas/apgas.hpp>

#include "spawn_benchmarks.hpp"
#include "spawn_peers.hpp"

namespace bench {
namespace {

constexpr int contenders = 8;

// section(f) runs f; this many times in a row.
template <class Section>
std::uint64_t alone(int n, Section section) {
  std::uint64_t sum = 0;
  for (int i = 0; i < n; ++i) section([&sum] { ++sum; });
  return sum;
}

std::uint64_t alone_atomic(int n) {
  return alone(n, [](auto f) { apgas::atomic(f); });
}

std::uint64_t alone_when(int n) {
  apgas::monitor m;
  return alone(n, [&m](auto f) { m.when([] { return true; }, f); });
}

std::uint64_t alone_mutex(int n) {
  apgas::mutex m;
  return alone(n, [&m](auto f) {
    const std::lock_guard hold(m);
    f();
  });
}

std::uint64_t alone_std(int n) {
  std::mutex m;
  return alone(n, [&m](auto f) {
    const std::lock_guard hold(m);
    f();
  });
}

// Tasks, or threads, that all want the same section all the time.
template <class Section>
std::uint64_t contended(int n, Section section) {
  std::uint64_t sum = 0;
  apgas::finish([&] {
    for (int t = 0; t < contenders; ++t) {
      apgas::async([&, n] {
        for (int i = 0; i < n / contenders; ++i) section([&sum] { ++sum; });
      });
    }
  });
  return sum;
}

std::uint64_t contended_monitor(int n) {
  apgas::monitor m;
  return contended(n, [&m](auto f) { m.atomic(f); });
}

std::uint64_t contended_mutex(int n) {
  apgas::mutex m;
  return contended(n, [&m](auto f) {
    const std::lock_guard hold(m);
    f();
  });
}

std::uint64_t contended_std(int n, int threads) {
  std::mutex m;
  std::uint64_t sum = 0;
  std::vector<std::jthread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&, n] {
      for (int i = 0; i < n / threads; ++i) {
        const std::lock_guard hold(m);
        ++sum;
      }
    });
  }
  all.clear();
  return sum;
}

// Two tasks; each value goes there and back, which is two hand-overs.
std::uint64_t handed_over(int n) {
  apgas::sync_var<int> there;
  apgas::sync_var<int> back;
  std::uint64_t sum = 0;
  apgas::finish([&] {
    apgas::async([&] {
      for (int i = 0; i < n / 2; ++i) back.write_ef(there.read_fe());
    });
    for (int i = 0; i < n / 2; ++i) {
      there.write_ef(2);
      sum += static_cast<std::uint64_t>(back.read_fe());
    }
  });
  return sum;
}

std::uint64_t handed_over_when(int n) {
  apgas::monitor m;
  int turn = 0;
  std::uint64_t sum = 0;
  const auto take_turns = [&](int mine) {
    for (int i = 0; i < n / 2; ++i) {
      m.when([&turn, mine] { return turn == mine; },
             [&] {
               turn = 1 - mine;
               ++sum;
             });
    }
  };
  apgas::finish([&] {
    apgas::async([&] { take_turns(1); });
    take_turns(0);
  });
  return sum;
}

}  // namespace

benchmark sections_alone(const sizes& s) {
  const int n = s.sections;
  const auto count = static_cast<std::uint64_t>(n);
  benchmark b{"section, uncontended", "section", static_cast<double>(n), 0, {}};
  add_ours(b, "apgas atomic", alone_atomic, n, count);
  add_ours(b, "apgas monitor::when, true", alone_when, n, count);
  add_ours(b, "apgas mutex", alone_mutex, n, count);
  add_ours(b, "std::mutex", alone_std, n, count);
  return b;
}

benchmark sections_contended(const sizes& s) {
  const int n = s.sections;
  const auto count = static_cast<std::uint64_t>(n);
  benchmark b{"section, 8 tasks at it", "section", static_cast<double>(n), 0, {}};
  add_ours(b, "apgas monitor", contended_monitor, n, count);
  add_ours(b, "apgas mutex", contended_mutex, n, count);
  add_peer(
      b, "std::mutex, a thread per worker",
      [](int workers) { return [workers](int k) { return contended_std(k, workers); }; }, n, count);
  return b;
}

benchmark hand_over(const sizes& s) {
  const int n = s.sections / 10;
  const auto count = static_cast<std::uint64_t>(n);
  benchmark b{"hand-over", "hand-over", static_cast<double>(n), 0, {}};
  add_ours(b, "apgas sync_var", handed_over, n, count);
  add_ours(b, "apgas monitor::when", handed_over_when, n, count);
  return b;
}

}  // namespace bench
