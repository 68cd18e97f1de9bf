// SPDX-License-Identifier: Apache-2.0

// A value handed from task to task and back, which is two hand-overs; beside fibers with a channel,
// and threads with a condition variable.

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include <apgas/apgas.hpp>

#include "spawn_benchmarks.hpp"

#if defined(BENCH_FIBER)
#include <boost/fiber/all.hpp>
#endif

namespace bench {
namespace {

std::uint64_t by_sync_var(int n) {
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

std::uint64_t by_when(int n) {
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

#if defined(BENCH_FIBER)
std::uint64_t by_fibers(int n) {
  boost::fibers::buffered_channel<int> there(2), back(2);
  std::uint64_t sum = 0;
  boost::fibers::fiber other([&] {
    for (int i = 0; i < n / 2; ++i) back.push(there.value_pop());
  });
  for (int i = 0; i < n / 2; ++i) {
    there.push(2);
    sum += static_cast<std::uint64_t>(back.value_pop());
  }
  other.join();
  return sum;
}
#endif

std::uint64_t by_threads(int n) {
  std::mutex guard;
  std::condition_variable changed;
  int turn = 0;
  std::uint64_t sum = 0;
  const auto take_turns = [&](int mine) {
    for (int i = 0; i < n / 2; ++i) {
      std::unique_lock hold(guard);
      changed.wait(hold, [&] { return turn == mine; });
      turn = 1 - mine;
      ++sum;
      changed.notify_one();
    }
  };
  std::jthread other([&] { take_turns(1); });
  take_turns(0);
  other.join();
  return sum;
}

}  // namespace

benchmark hand_over(const sizes& s) {
  const int n = s.sections / 10;
  const auto count = static_cast<std::uint64_t>(n);
  benchmark b{"hand-over", "hand-over", static_cast<double>(n), 0, {}};
  add_ours(b, "apgas sync_var", by_sync_var, n, count);
  add_ours(b, "apgas monitor::when", by_when, n, count);
#if defined(BENCH_FIBER)
  b.variants.push_back({"Boost.Fiber buffered_channel", role::peer, 1, timed(by_fibers, n, count)});
#endif
  b.variants.push_back(
      {"std::thread, std::condition_variable", role::peer, 2, timed(by_threads, n, count)});
  return b;
}

}  // namespace bench
