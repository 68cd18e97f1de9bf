// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "span_words.hpp"

// What places send each other: it arrives as it was, and anything else is refused.
namespace apgas::scheduler {
namespace {

TEST(SpanWords, APathArrivesWithTheSitesOfTheOtherPlace) {
  site_table here;
  site_table there;
  static_cast<void>(there.number_of("only there"));
  critical_paths sent;
  sent.extend(here.number_of("spawned"), 30);
  sent.extend(here.number_of("main"), 12);
  sent.longest.add_to_finish(here.number_of("finish"), 9);
  sent.burdened.burden(here.number_of("spawned"), 5);
  span_words words;
  put_paths(words, sent, here);
  put_text(words, "seven b");
  put_text(words, "");

  span_reader from(words);
  const critical_paths arrived = from.next_paths(there);
  EXPECT_EQ(from.text(), "seven b");
  EXPECT_EQ(from.text(), "");
  EXPECT_TRUE(from.good() && from.at_end());
  EXPECT_EQ(arrived.longest.length(), 42);
  EXPECT_EQ(arrived.burdened.length(), 47);
  EXPECT_EQ(arrived.longest.in_finishes(), 9);
  const auto part_of = [&](const path& p, const char* site, path_share::of kind) {
    for (const path_share& each : p.shares()) {
      if (each.kind == kind && each.site == there.number_of(site)) return each.ticks;
    }
    return span_ticks{0};
  };
  EXPECT_EQ(part_of(arrived.longest, "spawned", path_share::of::task), 30);
  EXPECT_EQ(part_of(arrived.longest, "spawned", path_share::of::scheduling), 0);
  EXPECT_EQ(part_of(arrived.longest, "main", path_share::of::task), 12);
  EXPECT_EQ(part_of(arrived.longest, "finish", path_share::of::finish), 9);
  EXPECT_EQ(part_of(arrived.longest, "only there", path_share::of::task), 0);
  EXPECT_EQ(part_of(arrived.burdened, "spawned", path_share::of::task), 30);
  EXPECT_EQ(part_of(arrived.burdened, "spawned", path_share::of::scheduling), 5);
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
  critical_paths sent;
  sent.extend(sites.number_of("main"), 12);
  span_words words;
  put_paths(words, sent, sites);
  for (std::size_t n = 0; n < words.size(); ++n) {
    span_reader from{std::span(words).first(n)};
    static_cast<void>(from.next_paths(sites));
    EXPECT_FALSE(from.good()) << n;
  }
  const span_words too_few{17, 1, 2};
  span_reader long_text(too_few);
  EXPECT_EQ(long_text.text(), "");
  EXPECT_FALSE(long_text.good());
}

TEST(SpanWords, AShareOfAKindThatAPathDoesNotHaveIsRefused) {
  site_table sites;
  critical_paths sent;
  sent.extend(sites.number_of("main"), 12);
  span_words words;
  put_paths(words, sent, sites);
  // After the length and the number of shares of each path. Kinds: task, finish, scheduling, none.
  constexpr std::size_t of_longest = 2;
  constexpr std::size_t of_burdened = 6;
  for (const auto& [share, kind, good] : {std::tuple(of_longest, 0U, true),
                                          {of_longest, 1U, true},
                                          {of_longest, 2U, false},
                                          {of_longest, 3U, false},
                                          {of_burdened, 1U, false},
                                          {of_burdened, 2U, true},
                                          {of_burdened, 3U, false}}) {
    span_words changed = words;
    changed[share] |= kind;
    span_reader from(changed);
    static_cast<void>(from.next_paths(sites));
    EXPECT_EQ(from.good(), good) << share << ", " << kind;
  }
}

}  // namespace
}  // namespace apgas::scheduler
