// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <source_location>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/future.hpp>
#include <apgas/promise.hpp>

#include "support/scheduler_fixture.hpp"

// Exceptions of futures that no task observes are reported, and no others.
namespace {

using apgas::async_future;

std::vector<apgas::spawn_site> reported;  // guarded by the lock under which failures are reported
std::vector<std::exception_ptr> errors;

void note(apgas::sync::place_state&, std::exception_ptr error,
          const apgas::spawn_site& site) noexcept {
  errors.push_back(std::move(error));
  reported.push_back(site);
}

// The number of reports that f causes by the end of its finish, and by the end of the run.
struct reports {
  std::size_t by_finish;
  std::size_t by_end;
};
template <class F>
reports reports_of(F f) {
  reported.clear();
  errors.clear();
  reports counted{};
  {
    apgas::test::task_place place(2);
    place.state().unobserved = &note;
    place.run(f);
    counted.by_finish = reported.size();
  }
  counted.by_end = reported.size();
  return counted;
}

[[noreturn]] int fail() { throw std::runtime_error("unseen"); }

TEST(unobserved, is_reported_when_the_last_handle_is_destroyed) {
  unsigned line = 0;
  const auto counted = reports_of([&] {
    line = std::source_location::current().line() + 1;
    async_future(apgas::name("lost"), [] { return fail(); });
    async_future([] { return 1; });
  });
  EXPECT_EQ(counted.by_finish, 1U);
  EXPECT_EQ(counted.by_end, 1U);
  EXPECT_EQ(reported.at(0).line, line);
  EXPECT_EQ(reported.at(0).task_name, "lost");
  EXPECT_THROW(std::rethrow_exception(errors.at(0)), std::runtime_error);
}

TEST(unobserved, is_reported_when_a_handle_outlives_the_run) {
  apgas::future<int> kept;
  const auto counted = reports_of([&] {
    kept = async_future([] { return fail(); });
    async_future([] { return fail(); });
  });
  EXPECT_EQ(counted.by_finish, 1U);
  EXPECT_EQ(counted.by_end, 2U);
  kept = {};
  EXPECT_EQ(reported.size(), 2U) << "once";
}

TEST(unobserved, is_reported_from_a_foreign_thread) {
  EXPECT_EQ(reports_of([] {
              apgas::future<int> f;
              apgas::finish([&] { f = async_future([] { return fail(); }); });
              std::thread([g = std::move(f)] {}).join();
            }).by_finish,
            1U);
}

TEST(unobserved, continuations_are_reported_too) {
  EXPECT_EQ(reports_of([] {
              static_cast<void>(async_future([] { return 1; }).then([](auto) { fail(); }));
            }).by_finish,
            1U);
}

TEST(unobserved, a_wait_that_timed_out_does_not_observe) {
  EXPECT_EQ(reports_of([] {
              const apgas::promise<void> go;
              const auto f = async_future([gate = go.get_future()] {
                gate.get();
                return fail();
              });
              EXPECT_EQ(f.wait_for(std::chrono::milliseconds(1)), std::future_status::timeout);
              go.set_value();
            }).by_finish,
            1U);
}

TEST(unobserved, an_observed_failure_is_not_reported) {
  EXPECT_EQ(reports_of([] {
              EXPECT_THROW(async_future([] { return fail(); }).get(), std::runtime_error);
              async_future([] { return fail(); }).wait();
              EXPECT_EQ(async_future([] { return fail(); }).wait_for(std::chrono::hours(1)),
                        std::future_status::ready);
              async_future([] { return fail(); }).then([](auto) {}).get();
              apgas::when_all(async_future([] { return fail(); })).wait();
              apgas::when_any(async_future([] { return fail(); })).wait();
              apgas::async_await([] {}, async_future([] { return fail(); }));
            }).by_end,
            0U);
}

TEST(unobserved, a_failure_observed_later_is_not_reported) {
  EXPECT_EQ(reports_of([] {
              std::vector<apgas::future<int>> failed(6);
              apgas::finish([&] {
                for (auto& f : failed) f = async_future([] { return fail(); });
              });
              EXPECT_TRUE(failed[0].ready());
              EXPECT_THROW(failed[0].get(), std::runtime_error);
              failed[1].wait();
              static_cast<void>(failed[2].then([](auto) {}));
              apgas::when_all(failed[3]).wait();
              apgas::when_any(failed[4]).wait();
              apgas::async_await([] {}, failed[5]);
            }).by_end,
            0U);
}

TEST(unobserved, an_exception_of_a_promise_is_not_reported) {
  EXPECT_EQ(reports_of([] {
              apgas::promise<int>().set_exception(std::make_exception_ptr(1));
              static_cast<void>(apgas::promise<int>().get_future());
            }).by_end,
            0U);
}

TEST(unobserved, is_printed_if_the_place_accepts_no_reports) {
  testing::internal::CaptureStderr();
  apgas::test::run_tasks(1, [] { async_future([] { return fail(); }); });
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_NE(printed.find("std::runtime_error: unseen"), std::string::npos) << printed;
  EXPECT_NE(printed.find("unobserved_test.cpp"), std::string::npos) << printed;
}

}  // namespace
