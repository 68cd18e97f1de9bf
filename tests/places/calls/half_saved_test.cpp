// SPDX-License-Identifier: Apache-2.0
// Values whose serialisation throws when a large part is already written, and values that are too
// large. The sender gets the exception, nothing of the value is sent or kept, and the next call
// works.
#include <array>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "check.hpp"
#include "phase_counts.hpp"

namespace {

using apgas::async_at;
using apgas::at;
using apgas::clocked;
using apgas::place;
using test::check;

using thrown = std::range_error;  // keeps its type between places

struct half_saved {
  template <class Archive>
  void save(Archive& archive) const {
    archive(std::vector<char>(100 << 10, 'x'));
    throw thrown("half saved");
  }
  template <class Archive>
  void load(Archive&) {
    throw std::logic_error("a part of it was sent");
  }
};

// A large part that can be saved, followed by one that cannot.
struct large_then_half {
  std::vector<int> part = std::vector<int>(1 << 20, 3);
  half_saved rest;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(part, rest);
  }
};

constexpr auto take = [](int, const half_saved&) { throw std::logic_error("it arrived"); };

void expect_the_next_call_works(place p) {
  const std::vector<int> sent(100'000, 7);
  EXPECT_EQ(at(
                p, [](const std::vector<int>& v) { return v.size() + apgas::here().id(); }, sent),
            sent.size() + static_cast<std::size_t>(p.id()));
}

TEST(half_saved, as_an_argument_of_at) {
  for (place p : apgas::places()) {
    for (int i = 0; i < 3; ++i) EXPECT_THROW(at(p, take, 1, half_saved{}), thrown);
    expect_the_next_call_works(p);
  }
}

TEST(half_saved, as_an_argument_of_async_at) {
  for (place p : apgas::places()) {
    apgas::finish([&] {
      EXPECT_THROW(async_at(p, take, 1, half_saved{}), thrown);
      async_at(p, [] { check(true); });
      EXPECT_THROW(async_at(p, take, 2, half_saved{}), thrown);
    });
    expect_the_next_call_works(p);
  }
}

TEST(half_saved, as_an_argument_of_uncounted_async_at) {
  for (place p : apgas::places()) {
    EXPECT_THROW(apgas::uncounted_async_at(p, take, 1, half_saved{}), thrown);
    expect_the_next_call_works(p);
  }
}

// The task that was not sent is not registered on the clock, so the clock advances and ends.
TEST(half_saved, as_an_argument_of_a_clocked_async_at) {
  for (place p : apgas::places()) {
    apgas::finish([&] {
      const auto c = apgas::clock::make();
      EXPECT_THROW(async_at(p, clocked(c), take, 1, half_saved{}), thrown);
      c.advance();
      async_at(
          p, clocked(c),
          [](apgas::clock own) {
            own.advance();
            own.advance();
          },
          c);
      c.advance();
      EXPECT_THROW(async_at(p, clocked(c), take, 1, half_saved{}), thrown);
      c.advance();
      EXPECT_EQ(c.phase(), 3);
    });
    expect_the_next_call_works(p);
  }
  test::expect_no_clocks_left();
}

// An at takes the caller's clock along; after the exception the caller is still registered.
TEST(half_saved, as_an_argument_of_at_with_a_clock) {
  for (place p : apgas::places()) {
    apgas::finish([&] {
      const auto c = apgas::clock::make();
      EXPECT_THROW(at(p, take, 1, half_saved{}), thrown);
      c.advance();
      EXPECT_THROW(at(p, [] { return half_saved{}; }), thrown);
      c.advance();
      EXPECT_EQ(c.phase(), 2);
    });
  }
  test::expect_no_clocks_left();
}

TEST(half_saved, as_a_result) {
  for (place p : apgas::places()) {
    for (int i = 0; i < 3; ++i) {
      EXPECT_THROW(at(p, [] { return half_saved{}; }), thrown);
      EXPECT_THROW(at(p, [] { return large_then_half{}; }), thrown);
    }
    EXPECT_THROW(apgas::async_future_at(p, [] { return large_then_half{}; }).get(), thrown);
    expect_the_next_call_works(p);
  }
}

// Does not initialise its elements, so that untouched pages take no memory.
template <class T>
struct untouched : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = untouched<U>;
  };
  template <class U>
  void construct(U*) noexcept {}
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    std::construct_at(at, std::forward<Args>(args)...);
  }
};
using bytes = std::vector<char, untouched<char>>;
constexpr std::size_t too_many = (std::size_t{1} << 30) + 1;

TEST(too_large, as_an_argument) {
  const bytes sent(too_many);
  for (place p : apgas::places()) {
    EXPECT_THROW(at(p, [](const bytes& b) { return b.size(); }, sent), apgas::serialization_error);
    EXPECT_THROW(async_at(p, [](const bytes&) {}, sent), apgas::serialization_error);
    expect_the_next_call_works(p);
  }
}

TEST(too_large, as_a_result) {
  for (place p : apgas::places()) {
    EXPECT_THROW(at(p, [] { return bytes(too_many); }), apgas::serialization_error);
    expect_the_next_call_works(p);
  }
}

}  // namespace
