// SPDX-License-Identifier: Apache-2.0
#include <apgas/places/place_report.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace {

using apgas::remote::place_report;
using testing::HasSubstr;
using testing::Not;

// Place i of n on one host, which has sent 1000 * i bytes to place 0.
std::vector<place_report> reports(int n) {
  std::vector<place_report> all;
  for (int i = 0; i < n; ++i) {
    const auto number = static_cast<std::uint64_t>(i);
    place_report each{
        .place = i, .host = "a\"b", .transport = "shm+ucx", .counters = {}, .links = {}};
    each.counters.places = 1;
    each.counters.workers = 2;
    each.counters.elapsed_ns = 1'500'000'000;
    each.counters.asleep_ns = 1'500'000'000;
    each.counters.steals = 1'234'567 * number;
    each.counters.deepest_stack = 4096 * (number + 1);
    each.counters.suspensions = each.counters.mutex_suspensions = number;
    each.counters.frames_sent = 3 * number;
    each.counters.messages_sent = 2 * number;
    if (i > 0) {
      each.links.push_back(
          {.to = 0, .by_rings = i % 2 == 1, .frames = 3, .messages = 2, .bytes = 1000 * number});
    }
    all.push_back(std::move(each));
  }
  return all;
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

TEST(PlaceReport, TableOfOnePlaceHasOneColumn) {
  const std::string text = table_of(reports(1));
  EXPECT_THAT(text, HasSubstr("statistics of 1 place:"));
  EXPECT_THAT(text, HasSubstr("1.500 s"));
  EXPECT_THAT(text, HasSubstr("50.0 %"));
  EXPECT_THAT(text, Not(HasSubstr("place 0")));
  EXPECT_THAT(text, Not(HasSubstr("from place to place")));
}

TEST(PlaceReport, TableHasThePartsThatOccurred) {
  EXPECT_THAT(table_of(reports(3)), testing::ContainsRegex("\n +in mutexes +3 +0 +1 +2\n"));
  EXPECT_THAT(table_of(reports(3)), Not(HasSubstr("in channels")));
  EXPECT_THAT(table_of(reports(1)), Not(HasSubstr("in mutexes")));
  EXPECT_THAT(table_of(reports(2)), testing::ContainsRegex("frames in a message +1.5 +0.0 +1.5\n"));
}

TEST(PlaceReport, TableOfFewPlacesHasThemAsColumns) {
  const std::string text = table_of(reports(3));
  EXPECT_THAT(text, HasSubstr("place 2"));
  EXPECT_THAT(text, HasSubstr("3,703,701")) << "1,234,567 and twice as many";
  EXPECT_THAT(text, HasSubstr("1 to 0"));
  EXPECT_THAT(text, testing::ContainsRegex("2 to 0 +3 +2 +2,000 +ucx"));
  EXPECT_THAT(text, testing::ContainsRegex("1 to 0 +3 +2 +1,000 +shm"));
}

TEST(PlaceReport, TableOfManyPlacesHasTheLeastAndTheMost) {
  const std::string text = table_of(reports(1000));
  EXPECT_THAT(text, HasSubstr("least (place)"));
  EXPECT_THAT(text, HasSubstr("1,233,332,433 (999)"));
  EXPECT_THAT(text, HasSubstr("0 (0)"));
  EXPECT_THAT(text, HasSubstr("and 983 more pairs with fewer bytes (492 by shm, 491 by ucx)"));
  EXPECT_LT(lines_of(text), 50u);
}

TEST(PlaceReport, JsonCanBeRead) {
  const auto read = nlohmann::json::parse(json_of(reports(3)));
  EXPECT_EQ(read["version"], 1);
  EXPECT_EQ(read["all"]["steals"], 3 * 1'234'567);
  EXPECT_EQ(read["all"]["elapsed_ns"], 1'500'000'000) << "the longest time";
  EXPECT_EQ(read["all"]["deepest_stack"], 3 * 4096) << "the most";
  EXPECT_EQ(read["all"]["mutex_suspensions"], 3);
  EXPECT_EQ(read["all"]["frames_per_message"], 1.5);
  ASSERT_EQ(read["places"].size(), 3u);
  EXPECT_EQ(read["places"][1]["host"], "a\"b");
  EXPECT_EQ(read["places"][1]["counters"]["workers"], 2);
  EXPECT_EQ(read["places"][2]["sent"][0]["bytes"], 2000);
  EXPECT_EQ(read["places"][2]["sent"][0]["by"], "ucx");
}

TEST(PlaceReport, JsonOfAHostNameThatIsNoText) {
  auto all = reports(1);
  all[0].host = "\xff";
  EXPECT_EQ(nlohmann::json::parse(json_of(all))["places"].size(), 1u);
}

TEST(PlaceReport, MetricsAreNamedAsPrometheusAsks) {
  const std::string text = metrics_of(reports(2));
  EXPECT_THAT(text, HasSubstr("# TYPE apgas_steals_total counter\n"
                              "apgas_steals_total{place=\"0\"} 0\n"
                              "apgas_steals_total{place=\"1\"} 1234567\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE apgas_workers gauge\napgas_workers{place=\"0\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("apgas_asleep_seconds_total{place=\"1\"} 1.500000000\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE apgas_deepest_stack_bytes gauge\n"
                              "apgas_deepest_stack_bytes{place=\"0\"} 4096\n"));
  EXPECT_THAT(text, HasSubstr("# HELP apgas_mutex_suspensions_total suspensions in mutexes\n"));
  EXPECT_THAT(text, HasSubstr("apgas_mutex_suspensions_total{place=\"1\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("apgas_serialization_seconds_total{place=\"1\"} 0.000000000\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE apgas_link_frames_total counter\n"
                              "apgas_link_frames_total{from=\"1\",to=\"0\",by=\"shm\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("apgas_link_bytes_total{from=\"1\",to=\"0\",by=\"shm\"} 1000\n"));
}

}  // namespace
