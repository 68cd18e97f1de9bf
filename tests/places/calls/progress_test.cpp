// SPDX-License-Identifier: Apache-2.0
// The network is polled while all workers are busy, with a progress thread and without.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "check.hpp"

namespace {

using apgas::place;
using clock = std::chrono::steady_clock;

// Whether a long message that is sent while the workers begin to compute for a time arrives before
// they have ended. Places on one host have the same clock.
bool arrives_while_the_sender_computes(std::chrono::seconds time) {
  const std::vector<std::byte> data(std::size_t{8} << 20, std::byte{7});
  clock::time_point computed;
  const auto arrived = apgas::make_global<clock::time_point>();
  apgas::finish([&] {
    apgas::async_at(
        place(1),
        [arrived](const std::vector<std::byte>&) {
          apgas::async_at(
              arrived.home(), [arrived](clock::time_point when) { *arrived = when; }, clock::now());
        },
        data);
    for (int worker = 0; worker < apgas::num_workers(); ++worker) {
      apgas::async([&computed, time] {
        const auto end = clock::now() + time;
        while (clock::now() < end) continue;
        computed = end;
      });
    }
  });
  const bool in_time = *arrived < computed;
  arrived.forget();
  return in_time;
}

// The message is so long that its sender must help to send it. Where other programs use the cores,
// that may take longer than a second.
TEST(Progress, SendingContinuesWhileTheSenderComputes) {
  using std::chrono::seconds;
  EXPECT_TRUE(arrives_while_the_sender_computes(seconds(1)) ||
              arrives_while_the_sender_computes(seconds(5)) ||
              arrives_while_the_sender_computes(seconds(25)));
}

std::atomic<bool> may_end{false};

// A task that spawns until another task stops it lets that other task run.
TEST(Progress, ASpawnerLetsOthersRun) {
  apgas::at(place(1), [] { may_end = false; });
  apgas::finish([] {
    apgas::async_at(place(1), [] {
      apgas::finish([] {
        while (!may_end) apgas::async([] {});
      });
    });
    apgas::async_at(place(1), [] { may_end = true; });
  });
}

// The same with finishes whose tasks stay on their worker.
TEST(Progress, ALoopOfFinishesLetsOthersRun) {
  apgas::at(place(1), [] { may_end = false; });
  apgas::finish([] {
    apgas::async_at(place(1), [] {
      apgas::coforall(0, apgas::num_workers(), [](int) {
        while (!may_end) {
          apgas::finish([] {
            for (int i = 0; i < 4; ++i) apgas::async([] {});
          });
        }
      });
    });
    apgas::async_at(place(1), [] { may_end = true; });
  });
}

// A task that has become ready runs although each worker runs only what it has just spawned.
TEST(Progress, ALoopOfFinishesLetsResumedTasksRun) {
  apgas::at(place(1), [] {
    may_end = false;
    apgas::latch waits(1);
    apgas::latch go(1);
    apgas::finish([&] {
      apgas::async([&] {
        waits.count_down();
        go.wait();
        may_end = true;
      });
      waits.wait();
      apgas::coforall(0, apgas::num_workers(), [&](int i) {
        if (i == 0) go.count_down();
        while (!may_end) apgas::finish([] { apgas::async([] {}); });
      });
    });
  });
}

// The spawner has ended, and all workers are busy with its tasks.
TEST(Progress, ManyTasksLetOthersRun) {
  static std::atomic<int> left{0};
  constexpr int tasks = 300;
  apgas::at(place(1), [] {
    left = tasks;
    may_end = false;
  });
  apgas::finish([] {
    apgas::async_at(place(1), [] {
      for (int i = 0; i < tasks; ++i) {
        apgas::async([] {
          const auto end = clock::now() + std::chrono::milliseconds(50);
          while (!may_end && clock::now() < end) continue;
          --left;
        });
      }
    });
    apgas::at(place(1), [] {});  // arrives after the tasks
    EXPECT_GT(apgas::at(place(1),
                        [] {
                          may_end = true;
                          return left.load();
                        }),
              0);
  });
}

std::atomic<int> short_tasks{0};

void run_short_tasks() {
  if (may_end) return;
  const auto end = clock::now() + std::chrono::microseconds(10);
  while (clock::now() < end) continue;
  ++short_tasks;
  apgas::async([] { run_short_tasks(); });
}

// A worker that computes looks for messages without any setting, every 50 us or so. MPI has no
// descriptor that could tell of one, so there it takes some milliseconds. Other programs may delay
// a call, but not each of them.
TEST(Progress, ACallWaitsForFewShortTasks) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no task sets a variable
  const char* const transport = std::getenv("APGAS_TRANSPORT");
  if (transport != nullptr && std::string_view(transport) == "mpi") return;
  const int workers = apgas::num_workers();
  apgas::at(place(1), [] { may_end = false; });
  int fewest = INT_MAX;
  apgas::finish([&] {
    apgas::async_at(place(1), [] {
      for (int i = 0; i < apgas::num_workers(); ++i) apgas::async([] { run_short_tasks(); });
    });
    int before = 0;
    for (int call = 0; call < 300; ++call) {
      const int now = apgas::at(place(1), [] { return short_tasks.load(); });
      if (now > 100 * workers) fewest = std::min(fewest, now - before);  // all of them run
      before = now;
    }
    apgas::at(place(1), [] { may_end = true; });
  });
  EXPECT_LT(fewest, 50 * workers) << "tasks of 10 us that ran at the place during a call";
}

}  // namespace
