// SPDX-License-Identifier: Apache-2.0
// The codes of apgas_start, apgas_run and apgas_stop, and what they do after an error.
#include <array>
#include <set>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <apgas/apgas.hpp>

#include "c_tasks.hpp"

namespace {

TEST(c_program_codes, every_code_has_a_text) {
  std::set<std::string> texts;
  for (int code = APGAS_ECRITICAL - 1; code <= 1; ++code) texts.insert(apgas_strerror(code));
  EXPECT_EQ(texts.size(), -APGAS_ECRITICAL + 2U);  // one for 0, and one for unknown codes
  EXPECT_EQ(std::string(apgas_strerror(-1000)), apgas_strerror(1));
}

TEST(c_program_codes, before_the_start) {
  EXPECT_EQ(apgas_stop(), APGAS_ENOTSTARTED);
  EXPECT_EQ(apgas_run(do_nothing, nullptr), APGAS_ENOTSTARTED);
  EXPECT_EQ(apgas_here(), APGAS_ENOTSTARTED);
  EXPECT_EQ(apgas_places(), APGAS_ENOTSTARTED);
  EXPECT_EQ(apgas_workers(), APGAS_ENOTASK);
  EXPECT_EQ(apgas_worker(), APGAS_ENOTASK);
}

TEST(c_program_codes, impossible_settings) {
  const std::array<const char*, 2> no_value{"APGAS_IDLE", nullptr};
  apgas_config bad = APGAS_CONFIG_INIT;
  bad.settings = no_value.data();
  EXPECT_EQ(apgas_start(&bad), APGAS_EINVAL);
  bad = APGAS_CONFIG_INIT;
  bad.size = sizeof bad - 1;
  EXPECT_EQ(apgas_start(&bad), APGAS_EINVAL);
  bad = APGAS_CONFIG_INIT;
  bad.workers = -1;
  EXPECT_EQ(apgas_start(&bad), APGAS_EINVAL);
  bad = APGAS_CONFIG_INIT;
  bad.argc = 1;
  EXPECT_EQ(apgas_start(&bad), APGAS_EINVAL);
  EXPECT_EQ(apgas_stop(), APGAS_ENOTSTARTED);
}

TEST(c_program_codes, a_later_version_may_only_use_known_fields) {
  struct {
    apgas_config known = APGAS_CONFIG_INIT;
    long added = 0;
  } later;
  later.known.size = sizeof later;
  ASSERT_EQ(apgas_start(&later.known), 0);
  EXPECT_EQ(apgas_stop(), 0);
  later.added = 1;
  EXPECT_EQ(apgas_start(&later.known), APGAS_EINVAL);
}

TEST(c_program_codes, a_start_that_fails_says_why) {
  apgas_config bad = APGAS_CONFIG_INIT;
  bad.transport = "pigeons";
  testing::internal::CaptureStderr();
  EXPECT_EQ(apgas_start(&bad), APGAS_ESTART);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("pigeons"), std::string::npos);
}

TEST(c_program_codes, zeros_are_the_defaults) {
  apgas_config config{};
  config.workers = 2;
  const std::array<const char*, 2> more{"APGAS_IDLE=100", nullptr};
  config.settings = more.data();
  ASSERT_EQ(apgas_start(&config), 0);
  EXPECT_EQ(apgas_start(&config), APGAS_EACTIVE);
  EXPECT_EQ(apgas_run(nullptr, nullptr), APGAS_EINVAL);
  EXPECT_EQ(apgas_workers(), 2);
  EXPECT_EQ(apgas_worker(), APGAS_ENOTASK);
  EXPECT_EQ(apgas_here(), 0);
  EXPECT_EQ(apgas_places(), 1);
  EXPECT_EQ(apgas_stop(), 0);
}

TEST(c_program_codes, a_task_cannot_start_or_stop) {
  ASSERT_EQ(apgas_start(nullptr), 0);
  const auto task = [](void*) {
    EXPECT_EQ(apgas_start(nullptr), APGAS_EINTASK);
    EXPECT_EQ(apgas_stop(), APGAS_EINTASK);
    EXPECT_EQ(apgas_run(do_nothing, nullptr), 0);
    EXPECT_EQ(apgas_run(nullptr, nullptr), APGAS_EINVAL);
  };
  EXPECT_EQ(apgas_run(task, nullptr), 0);
  EXPECT_EQ(apgas_stop(), 0);
}

TEST(c_program_codes, several_threads_run_at_once) {
  ASSERT_EQ(apgas_start(nullptr), 0);
  std::array<int, 4> done{};
  std::array<std::thread, 4> threads;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    threads[i] = std::thread([to = &done[i]] {
      for (int n = 0; n < 50; ++n) {
        EXPECT_EQ(apgas_run([](void* count) { ++*static_cast<int*>(count); }, to), 0);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const int n : done) EXPECT_EQ(n, 50);
  EXPECT_EQ(apgas_stop(), 0);
}

TEST(c_program_codes, in_a_program_that_cpp_has_started) {
  {
    apgas::runtime runtime;
    EXPECT_EQ(apgas_start(nullptr), APGAS_EACTIVE);
    EXPECT_EQ(apgas_run(do_nothing, nullptr), APGAS_ENOTSTARTED);
    EXPECT_EQ(apgas_stop(), APGAS_ENOTSTARTED);
    runtime.run([] {
      EXPECT_EQ(apgas_run(do_nothing, nullptr), 0);
      EXPECT_EQ(apgas_here(), 0);
      EXPECT_EQ(apgas_workers(), apgas::num_workers());
      EXPECT_NE(apgas_task_id(), 0U);
    });
  }
  EXPECT_EQ(apgas_start(nullptr), 0);
  EXPECT_EQ(apgas_stop(), 0);
}

}  // namespace
