// SPDX-License-Identifier: Apache-2.0
#include <apgas/base/parse.hpp>

#include <optional>

#include <gtest/gtest.h>

using namespace apgas::base;

TEST(ParseInteger, RequiresTheWholeTextToBeANumberWithinTheLimits) {
  EXPECT_EQ(parse_integer("12", 0, 12), 12);
  EXPECT_EQ(parse_integer("-3", -5, 5), -3);
  for (auto text : {"", "13", "12 ", " 1", "1x", "1.5", "0x1", "99999999999999999999", "+1"}) {
    EXPECT_EQ(parse_integer(text, 0, 12), std::nullopt) << text;
  }
}

TEST(ParseBytes, AcceptsBinaryUnits) {
  EXPECT_EQ(parse_bytes("4096", 0, 1 << 20), 4096u);
  EXPECT_EQ(parse_bytes("64K", 0, 1 << 20), 65536u);
  EXPECT_EQ(parse_bytes("64KiB", 0, 1 << 20), 65536u);
  EXPECT_EQ(parse_bytes("1M", 0, 1 << 20), 1u << 20);
  EXPECT_EQ(parse_bytes("1G", 0, std::size_t{1} << 30), 1u << 30);
}

TEST(ParseBytes, RejectsOtherUnitsAndValuesOutOfRange) {
  for (auto text : {"", "K", "1KB", "1T", "-1", "1 M", "2M", "99999999999999999G", "1iB"}) {
    EXPECT_EQ(parse_bytes(text, 0, 1 << 20), std::nullopt) << text;
  }
  EXPECT_EQ(parse_bytes("1K", 4096, 8192), std::nullopt);
}

TEST(ParseFlag, AcceptsTheUsualWords) {
  for (auto text : {"1", "on", "true", "yes"}) EXPECT_EQ(parse_flag(text), true) << text;
  for (auto text : {"0", "off", "false", "no"}) EXPECT_EQ(parse_flag(text), false) << text;
  for (auto text : {"", "2", "ON", "maybe"}) EXPECT_EQ(parse_flag(text), std::nullopt) << text;
}

TEST(ShowBytes, IsExactAndShort) {
  EXPECT_EQ(show_bytes(0), "0");
  EXPECT_EQ(show_bytes(1000), "1000");
  EXPECT_EQ(show_bytes(1536 << 10), "1536K");
  EXPECT_EQ(show_bytes(1 << 20), "1M");
  EXPECT_EQ(show_bytes(std::size_t{3} << 30), "3G");
}

TEST(EditDistance, CountsSingleLetterChanges) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("WORKERS", "WORKER"), 1u);
}
