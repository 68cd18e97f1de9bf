// SPDX-License-Identifier: Apache-2.0
// The network is polled while all workers are busy, with a progress thread and without.
#include <atomic>
#include <chrono>
#include <cstddef>
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

// The spawner has ended, and all workers are busy with its tasks.
TEST(Progress, ManyTasksLetOthersRun) {
  static std::atomic<int> left{0};
  constexpr int tasks = 300;
  apgas::at(place(1), [] { left = tasks; });
  apgas::finish([] {
    apgas::async_at(place(1), [] {
      for (int i = 0; i < tasks; ++i) {
        apgas::async([] {
          const auto end = clock::now() + std::chrono::milliseconds(2);
          while (clock::now() < end) continue;
          --left;
        });
      }
    });
    apgas::at(place(1), [] {});  // arrives after the tasks
    EXPECT_GT(apgas::at(place(1), [] { return left.load(); }), 0);
  });
}

}  // namespace
