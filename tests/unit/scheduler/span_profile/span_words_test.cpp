// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "span_words.hpp"

// What places send each other: it arrives as it was, and anything else is refused.
namespace apgas::scheduler {
namespace {

TEST(SpanWords, APathArrivesWithTheSitesOfTheOtherPlace) {
  site_table here;
  site_table there;
  static_cast<void>(there.number_of("only there"));
  path sent;
  sent.extend(here.number_of("spawned"), 30);
  sent.extend(here.number_of("main"), 12);
  sent.add_to_finish(here.number_of("finish"), 9);
  sent.burden(5);
  span_words words;
  put_path(words, sent, here);
  put_text(words, "seven b");
  put_text(words, "");

  span_reader from(words);
  const path arrived = from.next_path(there);
  EXPECT_EQ(from.text(), "seven b");
  EXPECT_EQ(from.text(), "");
  EXPECT_TRUE(from.good() && from.at_end());
  EXPECT_EQ(arrived.length(), 42);
  EXPECT_EQ(arrived.burdened(), 47);
  EXPECT_EQ(arrived.in_finishes(), 9);
  const auto part_of = [&](const char* site, path_share::of kind) {
    for (const path_share& each : arrived.shares()) {
      if (each.kind == kind && each.site == there.number_of(site)) return each.ticks;
    }
    return span_ticks{0};
  };
  EXPECT_EQ(part_of("spawned", path_share::of::task), 30);
  EXPECT_EQ(part_of("main", path_share::of::task), 12);
  EXPECT_EQ(part_of("finish", path_share::of::finish), 9);
  EXPECT_EQ(part_of("only there", path_share::of::task), 0);
}

TEST(SpanWords, ASiteWhoseTextComesLaterKeepsItsNumber) {
  site_table here;
  site_table there;
  const site_number known = there.number_of_code(here.code_of(here.number_of("late")));
  EXPECT_EQ(there.text_of(known), "");
  EXPECT_EQ(there.number_of("late"), known);
  EXPECT_EQ(there.text_of(known), "\"late\"");
}

TEST(SpanWords, TooFewWordsAreRefused) {
  site_table sites;
  path sent;
  sent.extend(sites.number_of("main"), 12);
  span_words words;
  put_path(words, sent, sites);
  for (std::size_t n = 0; n < words.size(); ++n) {
    span_reader from{std::span(words).first(n)};
    static_cast<void>(from.next_path(sites));
    EXPECT_FALSE(from.good()) << n;
  }
  const span_words too_few{17, 1, 2};
  span_reader long_text(too_few);
  EXPECT_EQ(long_text.text(), "");
  EXPECT_FALSE(long_text.good());
}

}  // namespace
}  // namespace apgas::scheduler
