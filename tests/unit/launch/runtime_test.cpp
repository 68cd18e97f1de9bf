// SPDX-License-Identifier: Apache-2.0
// apgas::runtime with one place: calls, their values and exceptions, its end, and misuse.
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/apgas.hpp>
#include <apgas/scheduler/stacks.hpp>

#include "support/message_of.hpp"

namespace {

using namespace std::chrono_literals;
using apgas::test::message_of;

TEST(runtime, run_returns_the_value_of_the_function) {
  apgas::runtime r;
  EXPECT_EQ(r.run([] { return apgas::num_places(); }), 1);
  int changed = 0;
  r.run([&] { changed = 5; });
  EXPECT_EQ(changed, 5);
  EXPECT_EQ(&r.run([&]() -> int& { return changed; }), &changed);
  auto owned = std::make_unique<int>(6);
  const std::unique_ptr<int> moved = r.run([owned = std::move(owned)]() mutable {
    ++*owned;
    return std::move(owned);
  });
  EXPECT_EQ(*moved, 7);
  EXPECT_EQ(r.place_id(), 0);
  EXPECT_EQ(r.num_places(), 1);
}

TEST(runtime, run_waits_for_the_tasks_of_the_function) {
  apgas::runtime r({.workers = 2});
  std::atomic<int> ended{0};
  r.run([&] {
    for (int i = 0; i < 10; ++i) {
      apgas::async([&ended] {
        apgas::sleep_for(5ms);
        apgas::async([&ended] { ++ended; });
      });
    }
  });
  EXPECT_EQ(ended, 10);
}

TEST(runtime, run_throws_what_function_and_tasks_threw) {
  apgas::runtime r;
  const auto failing = [] {
    apgas::async([] { throw std::out_of_range("of a task"); });
    throw std::logic_error("of the function");
  };
  try {
    r.run(failing);
    FAIL() << "nothing was thrown";
  } catch (const apgas::multiple_exceptions& several) {
    ASSERT_EQ(several.size(), 2U);
    for (const apgas::task_exception& each : several) EXPECT_GT(each.site().line, 0U);
    EXPECT_NE(std::string(several.what()).find("of the function (place 0, spawned at"),
              std::string::npos)
        << several.what();
  }
  EXPECT_EQ(r.run([] { return 1; }), 1);  // it goes on
}

TEST(runtime, several_threads_run_at_once) {
  apgas::runtime r({.workers = 2});
  std::atomic<int> inside{0};
  std::vector<std::thread> threads;
  std::atomic<long> sum{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      sum += r.run([&] {  // goes on when all four calls have begun
        ++inside;
        while (inside < 4) apgas::yield();
        return apgas::parallel_reduce(
            0, 100, 0L, [](int i) { return static_cast<long>(i); }, std::plus<long>());
      });
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(sum, 4 * 4950);
}

TEST(runtime, submit_gives_a_future) {
  apgas::runtime r;
  EXPECT_EQ(r.submit([] { return std::make_unique<int>(3); }).get() != nullptr, true);
  int there = 0;
  EXPECT_EQ(&r.submit([&]() -> int& { return there; }).get(), &there);
  r.submit([&] { there = 4; }).get();
  EXPECT_EQ(there, 4);
  std::future<void> failed = r.submit([] { apgas::async([] { throw std::logic_error("x"); }); });
  EXPECT_THROW(failed.get(), apgas::multiple_exceptions);

  struct unmovable_twice {
    bool moved = false;
    unmovable_twice() = default;
    unmovable_twice(unmovable_twice&& other) : moved(true) {
      if (other.moved) throw std::runtime_error("moved again");
    }
  };
  EXPECT_THROW(r.submit([] { return unmovable_twice(); }).get(), std::runtime_error);
}

TEST(runtime, what_a_submitted_function_captured_is_gone_before_its_value_is_there) {
  apgas::runtime r;
  for (int i = 0; i < 100; ++i) {
    auto shared = std::make_shared<int>(i);
    const std::weak_ptr<int> watched = shared;
    r.submit([shared = std::move(shared)] { return *shared; }).get();
    ASSERT_TRUE(watched.expired());
  }
}

TEST(runtime, the_end_waits_for_all_calls_and_uncounted_tasks) {
  std::atomic<int> ended{0};
  std::future<void> submitted;
  std::thread caller;
  {
    apgas::runtime r;
    submitted = r.submit([&] {
      apgas::sleep_for(50ms);
      ++ended;
    });
    std::promise<void> begun;
    caller = std::thread([&] {
      r.run([&] {
        begun.set_value();
        apgas::sleep_for(50ms);
        ++ended;
      });
    });
    begun.get_future().wait();
    static std::atomic<int>* uncounted = nullptr;  // a closure that is sent captures no reference
    uncounted = &ended;
    r.run([] {
      apgas::uncounted_async_at(apgas::here(), [] {
        apgas::sleep_for(100ms);
        ++*uncounted;
      });
    });
  }
  EXPECT_EQ(ended, 3);
  EXPECT_EQ(submitted.wait_for(0s), std::future_status::ready);
  caller.join();
}

TEST(runtime, stop_returns_the_code_of_the_program) {
  {
    apgas::runtime r;
    EXPECT_EQ(r.serve(), 0);  // place 0 serves nobody
    EXPECT_EQ(r.stop(7), 7);
    EXPECT_EQ(r.stop(8), 7);  // once
    EXPECT_EQ(r.serve(), 0);
    EXPECT_EQ(r.place_id(), 0);
  }
  EXPECT_EQ(apgas::run(0, nullptr, [] { return 3; }), 3);
}

TEST(runtime, failures_that_nothing_caught_are_printed_at_the_end) {
  apgas::runtime r;
  r.run([] {
    apgas::uncounted_async_at(apgas::here(), [] { throw std::logic_error("uncounted"); });
    apgas::detached_async([] { throw std::logic_error("detached"); });
  });
  r.run([] { static_cast<void>(apgas::async_future([] { throw std::logic_error("unseen"); })); });
  testing::internal::CaptureStderr();
  EXPECT_EQ(r.stop(0), 1);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("exceptions that nothing caught reached the end of apgas::runtime: 3 tasks"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("std::logic_error: uncounted"), std::string::npos) << text;
  EXPECT_NE(text.find("std::logic_error: detached"), std::string::npos) << text;
  EXPECT_NE(text.find("std::logic_error: unseen"), std::string::npos) << text;
}

TEST(runtime, many_one_after_the_other) {
  for (int i = 0; i < 100; ++i) {
    apgas::runtime r;
    ASSERT_EQ(r.run([i] { return apgas::async_future([i] { return i; }).get(); }), i);
    ASSERT_EQ(r.stop(i), i);
  }
  EXPECT_EQ(apgas::scheduler::stacks_in_use(), 0U);
}

TEST(runtime, another_thread_may_end_it) {
  auto r = std::make_unique<apgas::runtime>();
  EXPECT_EQ(r->run([] { return 1; }), 1);
  std::thread([&] { r.reset(); }).join();
  EXPECT_FALSE(apgas::runtime::active());
}

TEST(runtime, several_threads_may_end_it) {
  apgas::runtime r;
  std::future<void> busy = r.submit([] { apgas::sleep_for(50ms); });
  std::atomic<int> sum{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] { sum += r.stop(5); });
    }
  }
  EXPECT_EQ(sum, 20);
  EXPECT_EQ(busy.wait_for(0s), std::future_status::ready);
}

TEST(runtime, run_in_a_task_is_a_finish) {
  apgas::runtime r({.workers = 1});
  const int sum = r.run([&] {
    int inner = 0;
    const int value = r.run([&] {
      apgas::async([&] {
        apgas::sleep_for(10ms);
        inner = 1;
      });
      return 2;
    });
    EXPECT_EQ(inner, 1);  // waited for
    EXPECT_THROW(r.run([] { throw std::logic_error("x"); }), apgas::multiple_exceptions);
    EXPECT_EQ(&r.run([&]() -> int& { return inner; }), &inner);
    return value + apgas::blocking([&] { return r.run([] { return 3; }); });
  });
  EXPECT_EQ(sum, 5);
}

TEST(runtime, what_a_task_may_not_call) {
  apgas::runtime r;
  r.run([&] {
    EXPECT_EQ(message_of<apgas::illegal_operation>([&] { r.submit([] {}); }),
              "runtime::submit was called by a task; use async_future, for whose value a task can "
              "wait");
    EXPECT_EQ(message_of<apgas::illegal_operation>([&] { r.stop(); }),
              "runtime::stop was called by a task; call it on the thread that made the runtime");
    EXPECT_EQ(message_of<apgas::illegal_operation>([&] { r.serve(); }),
              "runtime::serve was called by a task; call it on the thread that made the runtime");
    EXPECT_EQ(message_of<apgas::illegal_operation>([] { apgas::runtime second; }),
              "apgas::runtime was made by a task, which runs in a program already; make it on a "
              "thread of your own, before the first task");
    EXPECT_EQ(message_of<apgas::illegal_operation>([] { apgas::run(0, nullptr, [] {}); }),
              "apgas::run was called by a task; it starts the program, once at a time");
    const std::string in_section =
        message_of<apgas::illegal_operation>([&] { apgas::atomic([&] { r.run([] {}); }); });
    EXPECT_NE(in_section.find("inside a critical section"), std::string::npos) << in_section;
  });
}

TEST(runtime, one_at_a_time) {
  EXPECT_FALSE(apgas::runtime::active());
  {
    apgas::runtime r;
    EXPECT_TRUE(apgas::runtime::active());
    EXPECT_EQ(
        message_of<apgas::illegal_operation>([] { apgas::runtime second; }),
        "apgas::runtime was started while apgas::runtime is active in this process, which has "
        "one program at a time; call run() of that runtime, or end it first");
    EXPECT_EQ(
        message_of<apgas::illegal_operation>([] { apgas::run(0, nullptr, [] {}); }),
        "apgas::run was started while apgas::runtime is active in this process, which has one "
        "program at a time; call run() of that runtime, or end it first");
    EXPECT_EQ(r.run([] { return 1; }), 1);
  }
  EXPECT_FALSE(apgas::runtime::active());
  std::string second;
  apgas::run(0, nullptr, [&] {
    second = apgas::blocking(
        [] { return message_of<apgas::illegal_operation>([] { apgas::runtime r; }); });
    EXPECT_FALSE(apgas::runtime::active());
  });
  EXPECT_EQ(second,
            "apgas::runtime was started while apgas::run is active in this process, which has one "
            "program at a time; wait until run has returned");
}

TEST(runtime, no_call_after_its_end_has_begun) {
  apgas::runtime r;
  EXPECT_EQ(r.stop(), 0);
  EXPECT_EQ(message_of<apgas::illegal_operation>([&] { r.run([] {}); }),
            "runtime::run was called after the end of the runtime had begun; call it before stop() "
            "and before the runtime is destroyed");
  EXPECT_EQ(message_of<apgas::illegal_operation>([&] { r.submit([] {}); }),
            "runtime::submit was called after the end of the runtime had begun; call it before "
            "stop() and before the runtime is destroyed");
}

TEST(runtime, the_watchdog_does_not_report_a_runtime_without_work) {
  testing::internal::CaptureStderr();
  {
    const apgas::runtime r({.more = {{"APGAS_WATCHDOG", "1"}}});
    std::this_thread::sleep_for(1600ms);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(runtime, a_start_that_fails_throws) {
  EXPECT_EQ(message_of<apgas::launch_error>([] { apgas::runtime r({.places = 2}); }),
            "APGAS_PLACES=2, but an apgas::runtime that is made without argc and argv cannot start "
            "its program again under mpirun: start the program with `apgas-run -n 2`, or set "
            "APGAS_TRANSPORT=local");
  EXPECT_NE(message_of<apgas::launch_error>([] {
              apgas::runtime r({.transport = "carrier pigeon"});
            }).find("pigeon"),
            std::string::npos);
  const auto too_many = [] { apgas::runtime r({.places = 4097, .transport = "local"}); };
  EXPECT_THROW(too_many(), apgas::launch_error);
  apgas::runtime r;  // nothing is left of those
  EXPECT_EQ(r.run([] { return 1; }), 1);
}

TEST(runtime, several_places_of_one_process) {
  apgas::runtime r({.places = 3, .workers = 1, .transport = "local"});
  EXPECT_EQ(r.num_places(), 3);
  EXPECT_EQ(r.run([] {
    return apgas::finish_reduce(0, std::plus<int>(), [] {
      for (apgas::place p : apgas::places()) {
        apgas::async_at(p, [] { apgas::offer(apgas::here().id() + 1); });
      }
    });
  }),
            6);
  EXPECT_EQ(r.stop(4), 4);
}

}  // namespace
