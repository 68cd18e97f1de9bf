// SPDX-License-Identifier: Apache-2.0
// Large arguments and results of at: within a host the receiver reads them from the sender's
// memory; otherwise messages carry them.
#include <apgas/comm/zero_copy.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/sync/place_state.hpp>

#include "check.hpp"

namespace {

using apgas::at;
using apgas::place;
using test::check;

using numbers = std::vector<double>;

numbers counted(std::size_t size, double from = 0) {
  numbers made(size);
  std::iota(made.begin(), made.end(), from);
  return made;
}

apgas::comm::endpoint& network() {
  return *apgas::sync::place_of(*apgas::scheduler::current_fiber()).endpoint;
}

// Bytes sent by this place and by p.
std::uint64_t bytes_sent_with(place p) {
  const auto sent = [] { return network().total_traffic().bytes_sent; };
  return sent() + at(p, sent);
}

bool zero_copy_to(place p) { return network().zero_copy_from(p.id()) != apgas::comm::no_zero_copy; }

TEST(zero_copy, arguments_are_not_in_messages) {
  constexpr std::size_t bytes = 1 << 20;
  const numbers all = counted(bytes / sizeof(double));
  for (const place p : apgas::places()) {
    if (p == apgas::here()) continue;
    const std::uint64_t before = bytes_sent_with(p);
    EXPECT_EQ(at(p, [](const numbers& n) { return n; }, all), all);
    const std::uint64_t sent = bytes_sent_with(p) - before;
    if (zero_copy_to(p)) {
      EXPECT_LT(sent, 4096);
    } else {
      EXPECT_GT(sent, 2 * bytes);
    }
  }
}

// All places of these tests are on one host.
TEST(zero_copy, follows_the_setting) {
  for (const place p : apgas::places()) {
    const char* const setting = std::getenv("APGAS_ONE_SIDED");  // NOLINT(concurrency-mt-unsafe)
    EXPECT_EQ(zero_copy_to(p), setting == nullptr || setting == std::string("direct"));
  }
}

TEST(zero_copy, works_for_any_length) {
  constexpr std::size_t least = apgas::comm::zero_copy_min_bytes;
  constexpr std::size_t chunk = apgas::comm::zero_copy_chunk_bytes;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, least - 1, least, least + 1,
                                  chunk - 1, chunk, chunk + 1, 5 * chunk, 5 * chunk + 7}) {
    std::string text(bytes, 'a');
    for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>('a' + i % 23);
    for (const place p : apgas::places()) {
      const auto twice = [](std::string got) { return got + got; };
      EXPECT_EQ(at(p, twice, text), text + text);
    }
  }
}

struct record {
  std::string name;
  numbers all;
  std::map<std::string, std::vector<std::int16_t>> series;
  std::vector<std::array<bool, 3>> flags;  // not every byte is a valid value
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, all, series, flags);
  }
  bool operator==(const record&) const = default;
};

record some_record() {
  record r{.name = std::string(20'000, 'n'),
           .all = counted(70'000),
           .series = {},
           .flags = std::vector<std::array<bool, 3>>(30'000, {true, false, true})};
  r.series["short"] = {1, 2, 3};
  r.series["long"] = std::vector<std::int16_t>(100'000, 7);
  return r;
}

TEST(zero_copy, works_inside_of_serialised_types) {
  const record sent = some_record();
  for (const place p : apgas::places()) {
    EXPECT_EQ(at(
                  p, [](const record& r) { return std::vector<record>{r, r}; }, sent),
              (std::vector<record>{sent, sent}));
  }
}

struct summing {
  numbers terms;
  double operator()(double x) const { return std::accumulate(terms.begin(), terms.end(), x); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(terms);
  }
};

TEST(zero_copy, works_for_the_closure) {
  for (const place p : apgas::places()) {
    EXPECT_EQ(at(p, summing{numbers(100'000, 2.0)}, 1.0), 200'001.0);
  }
}

TEST(zero_copy, arrives_as_a_copy) {
  const numbers mine = counted(50'000);
  for (const place p : apgas::places()) {
    const auto change = [](numbers got) {
      std::ranges::fill(got, -1);
      return got;
    };
    EXPECT_EQ(at(p, change, mine), numbers(50'000, -1));
    EXPECT_EQ(mine, counted(50'000));
  }
}

numbers kept;

TEST(zero_copy, returns_a_result_that_lives_on) {
  for (const place p : apgas::places()) {
    at(p, [] { kept = counted(50'000); });
    EXPECT_EQ(at(p, []() -> const numbers& { return kept; }), counted(50'000));
    at(p, [] { kept = {}; });
  }
}

TEST(zero_copy, is_used_by_many_tasks_at_a_time) {
  apgas::finish([] {
    for (int i = 0; i < 64 / test::slower + 2; ++i) {
      apgas::async([i] {
        for (const place p : apgas::places()) {
          const numbers mine = counted(10'000, i);
          check(at(
                    p,
                    [](numbers n) {
                      for (double& x : n) x += 1;
                      return n;
                    },
                    mine) == counted(10'000, i + 1));
        }
      });
    }
  });
}

// Passes its zero-copy argument on from place to place.
struct around {
  numbers operator()(numbers got) const {
    for (double& x : got) x += 1;
    if (apgas::here() == test::last()) return got;
    return at(test::next(apgas::here()), around(), got);
  }
};

TEST(zero_copy, is_passed_on_through_all_places) {
  EXPECT_EQ(around()(counted(30'000)), counted(30'000, apgas::num_places()));
}

TEST(zero_copy, returns_the_result_of_a_body_with_children) {
  for (int i = 0; i < 50 / test::slower + 1; ++i) {
    for (const place p : test::some_places()) {
      apgas::finish([p] {
        check(at(p, [] {
                apgas::async([] {
                  apgas::yield();
                  kept = counted(3);
                });
                return counted(20'000);
              }) == counted(20'000));
      });
      EXPECT_EQ(at(p, [] { return kept.size(); }), 3U);
      at(p, [] { kept = {}; });
    }
  }
}

TEST(zero_copy, returns_a_result_with_registrations) {
  for (const place p : apgas::places()) {
    apgas::finish([p] {
      const auto c = apgas::clock::make();
      const numbers got = at(
          p,
          [](apgas::clock there) {
            there.advance();
            return counted(20'000, static_cast<double>(there.phase()));
          },
          c);
      check(got == counted(20'000, static_cast<double>(c.phase())));
      c.advance();
    });
  }
}

TEST(zero_copy, works_for_a_body_that_throws) {
  const numbers mine = counted(50'000);
  for (const place p : apgas::places()) {
    EXPECT_THROW(
        at(
            p,
            [](const numbers& n) -> numbers { throw std::out_of_range(std::to_string(n.size())); },
            mine),
        std::out_of_range);
  }
}

// Fails after a zero-copy part: while it is written, or while it is read.
struct failing {
  numbers all;
  int at_save = 0;
  template <class Archive>
  void save(Archive& archive) const {
    archive(all, at_save);
    if (at_save == 1) throw std::invalid_argument("save");
  }
  template <class Archive>
  void load(Archive& archive) {
    archive(all, at_save);
    if (at_save == 2) throw std::invalid_argument("load");
  }
};

TEST(zero_copy, survives_failures_of_serialisation) {
  for (const place p : test::some_places()) {
    for (const int which : {1, 2}) {
      const auto make = [](int w) { return failing{counted(20'000), w}; };
      const auto take = [](const failing& f) { return f.all.size(); };
      EXPECT_THROW(at(p, make, which), std::invalid_argument);
      EXPECT_THROW(at(p, take, make(which)), std::invalid_argument);
      EXPECT_EQ(at(p, take, make(0)), 20'000U);
    }
  }
}

}  // namespace
