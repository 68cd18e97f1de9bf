// SPDX-License-Identifier: Apache-2.0

// Critical sections: uncontended, contended, and beside tasks that wait for a condition.

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <apgas/apgas.hpp>

#include "spawn_benchmarks.hpp"
#include "spawn_peers.hpp"

namespace bench {
namespace {

constexpr int contenders = 8;

// section(f) runs f in a critical section; this is repeated n times.
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

// Tasks, or threads, that contend for the same critical section all the time.
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

// Critical sections of one monitor while a number of tasks wait at the same monitor or at another.
// Each critical section tests the conditions of the tasks that wait at its monitor. Only the
// critical sections are timed.
sample beside_waiters(int n, int waiters, bool at_the_same) {
  apgas::monitor here, elsewhere;
  apgas::monitor& theirs = at_the_same ? here : elsewhere;
  std::atomic<int> came = 0;
  bool go_on = false;
  int sum = 0;
  sample s;
  apgas::finish([&] {
    for (int i = 0; i < waiters; ++i) {
      apgas::async([&] {
        ++came;
        theirs.when([&go_on] { return go_on; }, [] {});
      });
    }
    while (came < waiters) apgas::yield();
    const double begin = now();
    for (int i = 0; i < n; ++i) here.atomic([&sum] { ++sum; });
    s.seconds = now() - begin;
    theirs.atomic([&go_on] { go_on = true; });
  });
  s.correct = sum == n;
  return s;
}

// The same while each task waits for a watched cell of its own, and each section writes another.
sample beside_watching(int n, int waiters) {
  apgas::monitor m;
  std::deque<apgas::watched<bool>> go_on;
  for (int i = 0; i < waiters; ++i) go_on.emplace_back(m, false);
  apgas::watched<int> sum(m, 0);
  std::atomic<int> came = 0;
  sample s;
  apgas::finish([&] {
    for (auto& mine : go_on) {
      apgas::async([&] {
        ++came;
        m.when(apgas::watching(mine), [&mine] { return mine.get(); }, [] {});
      });
    }
    while (came < waiters) apgas::yield();
    const double begin = now();
    for (int i = 0; i < n; ++i) m.atomic([&sum] { sum.set(sum.get() + 1); });
    s.seconds = now() - begin;
    m.atomic([&go_on] {
      for (auto& each : go_on) each.set(true);
    });
  });
  s.correct = sum.get() == n;
  return s;
}

}  // namespace

benchmark sections_alone(const sizes& s) {
  const int n = s.sections;
  const auto count = static_cast<std::uint64_t>(n);
  benchmark b{"critical section, uncontended", "section", static_cast<double>(n), 0, {}};
  add_ours(b, "apgas atomic", alone_atomic, n, count);
  add_ours(b, "apgas monitor::when, true", alone_when, n, count);
  add_ours(b, "apgas mutex", alone_mutex, n, count);
  add_ours(b, "std::mutex", alone_std, n, count);
  return b;
}

benchmark sections_contended(const sizes& s) {
  const int n = s.sections;
  const auto count = static_cast<std::uint64_t>(n);
  benchmark b{"critical section, contended by 8 tasks", "section", static_cast<double>(n), 0, {}};
  add_ours(b, "apgas monitor", contended_monitor, n, count);
  add_ours(b, "apgas mutex", contended_mutex, n, count);
  add_peer(
      b, "std::mutex, a thread per worker",
      [](int workers) { return [workers](int k) { return contended_std(k, workers); }; }, n, count);
  return b;
}

benchmark sections_beside_waiters(const sizes& s) {
  const int n = s.sections / 10;
  benchmark b{"critical section beside waiting tasks", "section", static_cast<double>(n), 0, {}};
  const auto add = [&](const std::string& name, const std::function<sample()>& run) {
    for (const int workers : worker_counts())
      b.variants.push_back({name, role::ours, workers, run});
  };
  add("no task waits", [n] { return beside_waiters(n, 0, false); });
  add("1,000 wait at another monitor", [n] { return beside_waiters(n, 1'000, false); });
  add("100 wait at this one", [n] { return beside_waiters(n, 100, true); });
  add("1,000 wait at this one", [n] { return beside_waiters(n, 1'000, true); });
  add("1,000 watch other cells of this one", [n] { return beside_watching(n, 1'000); });
  return b;
}

}  // namespace bench
