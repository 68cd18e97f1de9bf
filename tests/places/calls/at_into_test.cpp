// SPDX-License-Identifier: Apache-2.0
// at_into: results that are received into memory of the caller; and vectors without zeroing.
#include <apgas/at_into.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/sync/place_state.hpp>

#include "check.hpp"

namespace {

using apgas::at;
using apgas::at_into;
using apgas::place;
using apgas::uninitialized_vector;
using test::check;

using numbers = std::vector<double>;

numbers counted(std::size_t size, double from) {
  numbers made(size);
  std::iota(made.begin(), made.end(), from);
  return made;
}

// Up to, at and beyond the sizes from which ranges are zero-copy and read in chunks.
constexpr std::size_t sizes[] = {0, 1, 2'047, 2'048, 2'049, 32'768, 100'003};

TEST(at_into, receives_a_vector_of_any_size) {
  for (const place p : apgas::places()) {
    for (const std::size_t size : sizes) {
      numbers got(size + 2, -1);
      at_into(
          p, std::span(got).subspan(1, size),
          [](std::size_t n) { return counted(n, apgas::here().id()); }, size);
      EXPECT_TRUE(std::ranges::equal(std::span(got).subspan(1, size), counted(size, p.id())));
      EXPECT_EQ(got.front(), -1);
      EXPECT_EQ(got.back(), -1);
    }
  }
}

numbers kept;

TEST(at_into, receives_data_of_the_other_place) {
  for (const place p : apgas::places()) {
    at(p, [] { kept = counted(50'000, 7); });
    numbers got(50'000);
    at_into(p, std::span(got), []() -> const numbers& { return kept; });
    EXPECT_EQ(got, counted(50'000, 7));
    std::ranges::fill(got, 0);
    at_into(p, std::span(got).first(20'000), [] { return std::span(kept).last(20'000); });
    EXPECT_TRUE(std::ranges::equal(std::span(got).first(20'000), counted(20'000, 30'007)));
    EXPECT_EQ(got[20'000], 0);
    at(p, [] { kept = {}; });
  }
}

TEST(at_into, receives_an_argument_that_comes_back) {
  const numbers sent = counted(30'000, 1);
  for (const place p : apgas::places()) {
    numbers got(sent.size());
    at_into(p, std::span(got), [](const numbers& n) { return std::span(n); }, sent);
    EXPECT_EQ(got, sent);
    at_into(
        p, std::span(got),
        [](numbers& n) -> numbers& {
          n[0] = 5;
          return n;
        },
        sent);
    EXPECT_EQ(got[0], 5);
    EXPECT_EQ(sent[0], 1);
  }
}

// The range and the span may overlap where both are in one process.
TEST(at_into, copies_between_overlapping_ranges) {
  kept = counted(50'000, 0);
  at_into(apgas::here(), std::span(kept).subspan(1), [] { return std::span(kept).first(49'999); });
  EXPECT_EQ(kept[0], 0);
  EXPECT_TRUE(std::ranges::equal(std::span(kept).subspan(1), counted(49'999, 0)));
  kept = {};
}

TEST(at_into, receives_elements_of_many_types) {
  for (const place p : apgas::places()) {
    std::array<int, 3> three{};
    at_into(p, std::span(three), [] { return std::array{1, 2, 3}; });
    EXPECT_EQ(three, (std::array{1, 2, 3}));
    std::string text(20'000, '-');
    at_into(p, std::span(text), [] { return std::string(20'000, 'x'); });
    EXPECT_EQ(text, std::string(20'000, 'x'));
    std::vector<std::complex<double>> waves(5'000);
    at_into(p, std::span(waves), [] { return std::vector(5'000, std::complex(1.0, 2.0)); });
    EXPECT_EQ(waves, std::vector(5'000, std::complex(1.0, 2.0)));
    using flags = std::vector<std::array<bool, 2>>;  // not every byte is a valid value
    flags got(20'000);
    at_into(p, std::span(got), [] { return flags(20'000, {true, false}); });
    EXPECT_EQ(got, flags(20'000, {true, false}));
  }
}

std::uint64_t bytes_sent_with(place p) {
  const auto sent = [] {
    const auto& state = apgas::sync::place_of(*apgas::scheduler::current_fiber());
    return state.endpoint->total_traffic().bytes_sent;
  };
  return sent() + at(p, sent);
}

TEST(at_into, puts_the_result_into_messages_only_without_zero_copy) {
  constexpr std::size_t size = 1 << 17;
  for (const place p : apgas::places()) {
    if (p == apgas::here()) continue;
    numbers got(size);
    const std::uint64_t before = bytes_sent_with(p);
    at_into(p, std::span(got), [] { return numbers(size, 3); });
    const std::uint64_t sent = bytes_sent_with(p) - before;
    EXPECT_EQ(got, numbers(size, 3));
    const auto& state = apgas::sync::place_of(*apgas::scheduler::current_fiber());
    if (state.endpoint->zero_copy_from(p.id()) != apgas::comm::no_zero_copy) {
      EXPECT_LT(sent, 4096);
    } else {
      EXPECT_GT(sent, size * sizeof(double));
    }
  }
}

TEST(at_into, refuses_a_range_of_another_size) {
  for (const place p : apgas::places()) {
    for (const std::size_t size : {std::size_t{10}, std::size_t{40'000}}) {
      for (const std::size_t returned : {std::size_t{0}, size - 1, size + 1}) {
        numbers got(size, -1);
        const std::string message = test::message_of([&] {
          at_into(p, std::span(got), [](std::size_t n) { return numbers(n, 1); }, returned);
        });
        EXPECT_EQ(message, "at_into: the function returned " + std::to_string(returned) +
                               " elements at place " + std::to_string(p.id()) +
                               ", but the span for them has " + std::to_string(size) +
                               ": give it as many elements as the function returns");
        EXPECT_EQ(got, numbers(size, -1));
        EXPECT_THROW(at_into(
                         p, std::span(got), [](std::size_t n) { return numbers(n, 1); }, returned),
                     apgas::illegal_operation);
      }
    }
  }
}

TEST(at_into, rethrows_what_the_function_threw) {
  numbers got(40'000, -1);
  for (const place p : apgas::places()) {
    EXPECT_THROW(at_into(p, std::span(got), []() -> numbers { throw std::out_of_range("row"); }),
                 std::out_of_range);
  }
  EXPECT_EQ(got, numbers(40'000, -1));
}

TEST(at_into, is_refused_in_a_critical_section) {
  std::array<int, 1> got{};
  const std::string message = test::message_of([&] {
    apgas::atomic([&] { at_into(apgas::here(), std::span(got), [] { return std::array{1}; }); });
  });
  EXPECT_NE(message.find("at_into"), std::string::npos) << message;
}

TEST(at_into, runs_the_children_of_the_function_and_keeps_registrations) {
  for (const place p : apgas::places()) {
    numbers got(20'000);
    apgas::finish([&] {
      const auto c = apgas::clock::make();
      at_into(
          p, std::span(got),
          [](apgas::clock there) {
            there.advance();
            apgas::async([] { kept = counted(3, 0); });
            return numbers(20'000, static_cast<double>(there.phase()));
          },
          c);
      check(got == numbers(20'000, static_cast<double>(c.phase())));
      c.advance();
    });
    EXPECT_EQ(at(p, [] { return kept.size(); }), 3U);
    at(p, [] { kept = {}; });
  }
}

TEST(at_into, serves_many_tasks_at_a_time) {
  apgas::finish([] {
    for (int i = 0; i < 64 / test::slower + 2; ++i) {
      apgas::async([i] {
        numbers got(10'000);
        for (const place p : apgas::places()) {
          at_into(p, std::span(got), [](int from) { return counted(10'000, from); }, i);
          check(got == counted(10'000, i));
        }
      });
    }
  });
}

TEST(uninitialized_vector, is_sent_as_a_vector) {
  for (const place p : apgas::places()) {
    for (const std::size_t size : sizes) {
      const numbers values = counted(size, 2);
      const uninitialized_vector<double> sent(values.begin(), values.end());
      const auto got = at(
          p,
          [](uninitialized_vector<double> v) {
            for (double& x : v) x += 1;
            return v;
          },
          sent);
      EXPECT_TRUE(std::ranges::equal(got, counted(size, 3)));
    }
  }
}

TEST(uninitialized_vector, is_an_argument_of_a_task) {
  for (const place p : apgas::places()) {
    apgas::finish([p] {
      apgas::async_at(
          p,
          [](const uninitialized_vector<double>& v) { check(v.size() == 5'000 && v.back() == 8); },
          uninitialized_vector<double>(5'000, 8));
    });
    const auto later = [] { return uninitialized_vector<double>(5'000, 9); };
    EXPECT_EQ(apgas::async_future_at(p, later).get(), later());
  }
}

}  // namespace
