// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "span_report.hpp"

namespace apgas::scheduler {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

span_summary example() {
  return {.workers = 4,
          .seconds_per_tick = 1e-3,
          .work = 3'100,
          .span = 1'000,
          .burdened_span = 1'240,
          .tasks = 81,
          .by_spawn_site = {{.site = "main",
                             .tasks = 1,
                             .work = 100,
                             .longest = 100,
                             .on_path = 90,
                             .on_burdened_path = 130,
                             .burden = 40},
                            {.site = "solver.cpp:90",
                             .is_line = true,
                             .tasks = 80,
                             .work = 3'000,
                             .longest = 910,
                             .on_path = 910,
                             .on_burdened_path = 1'110,
                             .burden = 200}},
          .by_finish = {{"fork_join at init.cpp:7", 1, 120, 200, 130},
                        {"finish at solver.cpp:88", 10, 800, 2'000, 500}}};
}

TEST(SpanReport, NamesWhatBoundsTheSpeedUp) {
  EXPECT_EQ(span_sentence(example()),
            "speed-up bounded by 3.1: finish at solver.cpp:88 (80 % of the "
            "critical path; 91 % is in tasks spawned at solver.cpp:90)");
  EXPECT_THAT(
      span_table(example()),
      AllOf(HasSubstr("work and span, on 4 workers:\n"),
            ContainsRegex("work, of all tasks +3.100 s\n"),
            ContainsRegex("parallelism, work / span +3.1\n"),
            ContainsRegex("burdened parallelism +2.5\n"),
            ContainsRegex("workers +2 +4 +8 +16 +32 +64\n"),
            ContainsRegex("speed-up to expect +1.1 to 2.0 +1.5 to 3.1 "),
            ContainsRegex("solver.cpp:90 +80 +96.8 % +37.500 ms +910.000 ms +91.0 % +3.3 +16.1 % "
                          "+2.7\n"),
            ContainsRegex("solver.cpp:88 +10 +4.0 +80.0 %")));
}

TEST(SpanReport, NamesCodeOutsideOfFinishes) {
  span_summary s = example();
  s.span = 5'000;
  EXPECT_THAT(span_sentence(s), HasSubstr("bounded by 0.6: code outside any finish (82 % "));
}

TEST(SpanReport, NamesATaskThatHasAName) {
  span_summary s = example();
  s.by_spawn_site[0].on_path = 950;
  EXPECT_THAT(span_sentence(s), HasSubstr("; 95 % is in main)"));
}

TEST(SpanReport, NamesTasksThatAreTooShortToBeShared) {
  span_summary s = example();
  EXPECT_THAT(span_sentence(s), Not(HasSubstr("with scheduling")));
  s.burdened_span = 6'240;
  s.by_spawn_site[1].on_burdened_path = 6'110;
  s.by_spawn_site[1].burden = 5'200;
  EXPECT_THAT(
      span_sentence(s),
      EndsWith("); with scheduling by 0.5: 84 % of the burdened span is scheduling, the "
               "largest part of it of tasks spawned at solver.cpp:90, so make these tasks longer"));
}

TEST(SpanReport, HasNoParallelismOfASiteBesideTheCriticalPath) {
  span_summary s = example();
  s.by_spawn_site[1].on_path = 0;
  s.by_spawn_site[1].on_burdened_path = 0;
  s.by_spawn_site[1].burden = 0;
  EXPECT_THAT(span_table(s), ContainsRegex("solver.cpp:90 .* 0.0 % +- +0.0 % +-\n"));
  const auto site = nlohmann::json::parse(span_json(s))["spawn_sites"][1];
  EXPECT_TRUE(site["parallelism"].is_null());
  EXPECT_TRUE(site["burdened_parallelism"].is_null());
}

TEST(SpanReport, OfOnePlaceOfSeveralSaysWhich) {
  span_summary s = example();
  s.places = 4;
  EXPECT_THAT(span_table(s), HasSubstr(" at 4 places:"));
}

TEST(SpanReport, OmitsRowsOfLongTables) {
  span_summary s = example();
  for (int i = 0; i < 30; ++i)
    s.by_spawn_site.push_back({.site = "tiny.cpp:" + std::to_string(i), .is_line = true});
  EXPECT_THAT(span_table(s), AllOf(HasSubstr("... and 20 more"), Not(HasSubstr("tiny.cpp:28"))));
}

TEST(SpanReport, OfARunWithoutTasksDoesNotDivideByZero) {
  EXPECT_THAT(span_table({}), HasSubstr("parallelism"));
  EXPECT_THAT(span_sentence({}), HasSubstr("speed-up bounded by 1.0: code outside any finish"));
}

TEST(SpanReport, IsJsonForMachines) {
  span_summary s = example();
  s.by_spawn_site[0].site = "a \"name\"\n\\ caf\xe9";
  const auto json = nlohmann::json::parse(span_json(s));
  EXPECT_EQ(json["work"], 3.1);
  EXPECT_EQ(json["bounded_by"], "finish at solver.cpp:88");
  EXPECT_EQ(json["spawn_sites"].size(), 2U);
  EXPECT_EQ(json["spawn_sites"][0]["on_critical_path"], 0.91);
  EXPECT_NEAR(json["spawn_sites"][0]["parallelism"].get<double>(), 3'000.0 / 910, 1e-5);
  EXPECT_EQ(json["spawn_sites"][1]["site"], "a \"name\" \\ caf\ufffd");
  EXPECT_EQ(json["spawn_sites"][0]["on_burdened_path"], 1.11);
  EXPECT_EQ(json["spawn_sites"][0]["burden"], 0.2);
  EXPECT_EQ(json["finishes"][0]["times"], 10);
}

TEST(SpeedUp, LiesBetweenItsBounds) {
  const speed_up two = expected_speed_up(example(), 2);
  EXPECT_DOUBLE_EQ(two.most, 2);
  EXPECT_DOUBLE_EQ(two.least, 3'100 / (1'550.0 + 1'240));
  const speed_up many = expected_speed_up(example(), 1'000'000);
  EXPECT_DOUBLE_EQ(many.most, 3.1);
  EXPECT_NEAR(many.least, 2.5, 0.001);
}

}  // namespace
}  // namespace apgas::scheduler
