// SPDX-License-Identifier: Apache-2.0
// The table of settings: the values it reads, the values it rejects, and its error messages.
#include <apgas/base/option.hpp>

#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace apgas::base;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

settings read(std::vector<const char*> environment) {
  environment.push_back(nullptr);
  return read_settings(settings{}, environment.data());
}

std::string refusal(std::string_view name, std::string_view value) {
  settings target;
  try {
    set_option(target, name, value);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST(Options, AreReadFromTheEnvironment) {
  const settings s = read({"PATH=/bin",
                           "APGAS_PLACES=4",
                           "APGAS_WORKERS=2",
                           "APGAS_TRANSPORT=local",
                           "APGAS_STACK_SIZE=256K",
                           "APGAS_BIND=none",
                           "APGAS_IDLE=0",
                           "APGAS_STATS=1",
                           "APGAS_BATCH_SIZE=4096",
                           "APGAS_BATCH_DELAY=7",
                           "APGAS_SEND_QUEUE=1G",
                           "APGAS_FINISH_TREE=2",
                           "APGAS_TASK_WINDOW=1M",
                           "APGAS_TEAM_WARNING=0",
                           "APGAS_HEARTBEAT=0",
                           "APGAS_INTERFACE=eth0",
                           "APGAS_WATCHDOG=3",
                           "APGAS_TRACE=run.json",
                           "APGAS_CONTROL=off",
                           "APGAS_SEED=9223372036854775807",
                           "APGAS_PROFILE=span:json:span.json"});
  EXPECT_FALSE(s.control);
  EXPECT_TRUE(s.profile_span);
  EXPECT_EQ(s.profile_file, "span.json");
  EXPECT_EQ(s.places, 4);
  EXPECT_EQ(s.workers, 2);
  EXPECT_EQ(s.transport, transport_choice::local);
  EXPECT_EQ(s.stack_bytes, 262144u);
  EXPECT_EQ(s.bind, bind_choice::none);
  EXPECT_EQ(s.idle_us, 0);
  EXPECT_TRUE(s.stats);
  EXPECT_EQ(s.batch_bytes, 4096u);
  EXPECT_EQ(s.batch_delay_us, 7);
  EXPECT_EQ(s.send_queue_bytes, 1u << 30);
  EXPECT_EQ(s.finish_tree_places, 2);
  EXPECT_EQ(s.task_window_bytes, 1u << 20);
  EXPECT_EQ(s.team_warning_s, 0);
  EXPECT_EQ(s.heartbeat_s, 0);
  EXPECT_EQ(s.watchdog_s, 3);
  EXPECT_EQ(s.trace, "run.json");
  EXPECT_EQ(s.interface, "eth0");
  EXPECT_EQ(s.seed, 9223372036854775807u);
}

TEST(Options, TheEnvironmentOverridesDefaultsAndLeavesOtherSettingsAlone) {
  settings given;
  given.workers = 3;
  given.places = 5;
  const char* environment[] = {"APGAS_WORKERS=1", nullptr};
  const settings s = read_settings(given, environment);
  EXPECT_EQ(s.workers, 1);
  EXPECT_EQ(s.places, 5);
}

TEST(Options, AnErrorNamesTheVariableTheValueAndTheAcceptedValues) {
  EXPECT_THAT(refusal("APGAS_WORKERS", "1025"),
              AllOf(HasSubstr("APGAS_WORKERS=1025"), HasSubstr("from 1 to 1024")));
  EXPECT_THAT(refusal("APGAS_WORKERS", "0"),
              AllOf(HasSubstr("APGAS_WORKERS=0"), HasSubstr("from 1 to 1024")));
  EXPECT_THAT(refusal("APGAS_PLACES", "0"), HasSubstr("APGAS_PLACES=0: expected a whole number"));
  EXPECT_THAT(refusal("APGAS_TRANSPORT", "smoke"), HasSubstr("auto, shm, ucx, mpi or local"));
  EXPECT_THAT(refusal("APGAS_STACK_SIZE", "1T"), HasSubstr("from 64K to 1G"));
  EXPECT_THAT(refusal("APGAS_STATS", "perhaps"), HasSubstr("1, 0 or json:"));
  for (const char* const value : {"cycles", "spanner", "span:json", "span:json:", "span:run.json"})
    EXPECT_THAT(refusal("APGAS_PROFILE", value), HasSubstr("span:json: and the path of a file"));
  EXPECT_THROW(read({"APGAS_WORKERS=many"}), std::invalid_argument);
}

// Every option rejects a meaningless value, and the text it prints for a value can be read back.
TEST(Options, EveryOptionRejectsNonsenseAndReadsItsOwnOutput) {
  for (const option& o : options()) {
    EXPECT_NE(refusal(o.name, "-1"), "accepted") << o.name;
    EXPECT_NE(refusal(o.name, ""), "accepted") << o.name;
    const std::string shown = o.show(settings{});
    if (shown.empty() || shown == "automatic") continue;
    settings again;
    o.set(again, o, shown);
    EXPECT_EQ(o.show(again), shown) << o.name;
  }
}

TEST(Options, AnUnknownNameIsReportedWithTheClosestKnownOne) {
  EXPECT_EQ(refusal("APGAS_WORKER", "1"),
            "APGAS_WORKER is not a setting; the closest is APGAS_WORKERS");
  const char* environment[] = {
      "APGAS_PLACE=2",      "APGASX=1", "APGAS_TEST_SEED=1", "APGAS_LAUNCHED_BY=x", "APGAS_HOSTS=a",
      "APGAS_STACKSIZE=1M", nullptr};
  EXPECT_THAT(unknown_variables(environment),
              ElementsAre(HasSubstr("did you mean APGAS_PLACES?"),
                          HasSubstr("did you mean APGAS_STACK_SIZE?")));
}

TEST(Options, UnknownVariablesAreReportedOnce) {
  const char* environment[] = {"APGAS_WORKRES=2", nullptr};
  testing::internal::CaptureStderr();
  warn_unknown_variables(environment);
  warn_unknown_variables(environment);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "apgas: warning: APGAS_WORKRES in the environment is not a setting; "
            "did you mean APGAS_WORKERS?\n");
}
