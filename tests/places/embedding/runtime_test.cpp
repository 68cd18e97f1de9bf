// SPDX-License-Identifier: Apache-2.0
// apgas::runtime over places: GoogleTest has main, place 0 goes on with it, and the other places
// serve. A check at another place must throw or return something.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "check.hpp"

namespace {

using namespace std::chrono_literals;

apgas::runtime* the_runtime = nullptr;  // of this process

TEST(runtime, runs_over_all_places) {
  const int places = the_runtime->num_places();
  const int sum = the_runtime->run([] {
    return apgas::finish_reduce(0, std::plus<int>(), [] {
      apgas::async_at(apgas::places(), [] { apgas::offer(apgas::here().id() + 1); });
    });
  });
  EXPECT_EQ(sum, places * (places + 1) / 2);
  EXPECT_EQ(the_runtime->run([] { return apgas::here().id(); }), 0);
}

TEST(runtime, throws_what_tasks_of_other_places_threw) {
  try {
    the_runtime->run([] {
      for (const apgas::place p : apgas::places()) {
        apgas::async_at(p, [] { throw std::out_of_range("row 7"); });
      }
    });
    FAIL() << "nothing was thrown";
  } catch (const apgas::multiple_exceptions& several) {
    ASSERT_EQ(static_cast<int>(several.size()), the_runtime->num_places());
    for (const apgas::task_exception& each : several) {
      EXPECT_THROW(std::rethrow_exception(each), std::out_of_range);
    }
  }
}

TEST(runtime, several_threads_send_tasks_at_once) {
  constexpr int calls = 20;
  std::atomic<int> sum{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      std::vector<std::future<int>> later;
      for (int i = 0; i < calls; ++i) {
        sum += the_runtime->run([] { return apgas::at(test::last(), [] { return 1; }); });
        later.push_back(
            the_runtime->submit([] { return apgas::at(test::last(), [] { return 1; }); }));
      }
      for (std::future<int>& each : later) sum += each.get();
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(sum, 4 * 2 * calls);
}

TEST(runtime, run_in_a_task_is_a_finish_at_every_place) {
  the_runtime->run([] {
    apgas::at(test::last(), [] {
      static std::atomic<int> ended;
      ended = 0;
      const int value = the_runtime->run([] {
        for (const apgas::place p : apgas::places()) {
          apgas::async_at(p, [home = apgas::here()] {
            apgas::sleep_for(10ms);
            apgas::at(home, [] { ++ended; });
          });
        }
        return apgas::here().id();
      });
      test::check(value == test::last().id());
      test::check(ended == apgas::num_places());
    });
  });
}

TEST(runtime, calls_of_other_places_are_refused) {
  if (the_runtime->num_places() == 1) return;  // there is none
  // Outside tasks, at a place of another process.
  const auto refused = [](const std::string& function) {
    return the_runtime->run([&] {
      return apgas::at(
          test::last(),
          [](const std::string& which) {
            if (the_runtime->place_id() == 0) return std::string("of this process");
            return apgas::blocking([&] {
              return test::message_of([&] {
                if (which == "run") the_runtime->run([] {});
                if (which == "submit") the_runtime->submit([] {});
                if (which == "stop") the_runtime->stop();
              });
            });
          },
          function);
    });
  };
  const char* const transport = std::getenv("APGAS_TRANSPORT");  // NOLINT(concurrency-mt-unsafe)
  const bool one_process = transport != nullptr && std::string(transport) == "local";
  const std::string where = std::to_string(the_runtime->num_places() - 1);
  for (const std::string function : {"run", "submit"}) {
    EXPECT_EQ(refused(function), one_process
                                     ? "of this process"
                                     : "runtime::" + function + " was called at place " + where +
                                           ", which runs what place 0 sends; call serve() "
                                           "there");
  }
  EXPECT_EQ(refused("stop"), one_process ? "of this process"
                                         : "runtime::stop was called at place " + where +
                                               ", which ends when place 0 does; call serve() "
                                               "there");
}

// Ended by main: the code that serve() returns elsewhere says whether this task has run.
TEST(runtime, the_end_waits_for_uncounted_tasks_of_other_places) {
  the_runtime->run([] {
    apgas::uncounted_async_at(test::last(), [] {
      apgas::sleep_for(300ms);
      apgas::uncounted_async_at(apgas::place(0), [] {});
    });
  });
}

}  // namespace

int main(int argc, char** argv) {
  apgas::runtime runtime(argc, argv);
  the_runtime = &runtime;
  if (runtime.place_id() != 0) return runtime.serve();
  testing::InitGoogleTest(&argc, argv);
  const int code = RUN_ALL_TESTS();
  return runtime.stop(code);
}
