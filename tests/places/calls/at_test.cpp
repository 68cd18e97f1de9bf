// SPDX-License-Identifier: Apache-2.0
// at: arguments, results, and the order of memory accesses.
#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "check.hpp"

namespace {

using apgas::at;
using apgas::place;
using test::check;

struct point {
  int x = 0;
  double y = 0;
  bool operator==(const point&) const = default;
};

struct person {
  std::string name;
  std::map<std::string, int> marks;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, marks);
  }
  bool operator==(const person&) const = default;
};

// A closure that Cereal serialises.
struct adder {
  std::vector<int> terms;
  int operator()(int x) const { return std::accumulate(terms.begin(), terms.end(), x); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(terms);
  }
};

TEST(at, runs_there_and_returns_the_value) {
  for (place p : apgas::places()) {
    EXPECT_EQ(at(p, [] { return apgas::here(); }), p);
    int captured = 20;
    EXPECT_EQ(
        at(p, [captured](int x) { return captured + x + apgas::here().id(); }, 1), 21 + p.id());
    EXPECT_EQ(at(p, adder{{1, 2, 3}}, 4), 10);
  }
}

TEST(at, carries_values_of_many_types) {
  const person ada{"Ada", {{"analysis", 1}, {"engines", 2}}};
  for (place p : apgas::places()) {
    const auto same = [](auto value) { return value; };
    EXPECT_EQ(at(p, same, ada), ada);
    EXPECT_EQ(at(p, same, point{1, 2.5}), (point{1, 2.5}));
    EXPECT_EQ(at(p, same, std::string("text")), "text");
    EXPECT_EQ(at(p, same, std::optional<int>(7)), std::optional<int>(7));
    EXPECT_EQ(at(p, same, std::variant<int, std::string>("v")),
              (std::variant<int, std::string>("v")));
    EXPECT_EQ(at(p, same, std::pair(1, std::string("b"))), std::pair(1, std::string("b")));
    EXPECT_EQ(at(p, same, std::tuple(1, 2.0, 'c')), std::tuple(1, 2.0, 'c'));
    EXPECT_EQ(at(p, same, std::vector<std::vector<int>>{{1}, {2, 3}}),
              (std::vector<std::vector<int>>{{1}, {2, 3}}));
    EXPECT_EQ(*at(
                  p, [](const std::unique_ptr<int>& x) { return std::make_unique<int>(*x + 1); },
                  std::make_unique<int>(4)),
              5);
  }
}

TEST(at, copies_at_this_place_too) {
  for (place p : apgas::places()) {
    std::vector<int> mine{1, 2, 3};
    const auto changed = at(
        p,
        [](std::vector<int>& theirs) {
          theirs.push_back(4);
          return theirs;
        },
        mine);
    EXPECT_EQ(mine.size(), 3U);
    EXPECT_EQ(changed.size(), 4U);
    int counter = 0;
    EXPECT_EQ(at(p, [counter]() mutable { return ++counter; }), 1);
    EXPECT_EQ(counter, 0);
  }
}

TEST(at, decays_its_result) {
  for (place p : apgas::places()) {
    static const int constant = 5;
    static_assert(std::is_same_v<decltype(at(p, []() -> const int& { return constant; })), int>);
    EXPECT_EQ(at(p, []() -> const int& { return constant; }), 5);
  }
}

TEST(at, nests_around_all_places) {
  const int rounds = std::max(1, 200 / apgas::num_places());
  for (place p : apgas::places()) {
    struct hop {
      int left;
      int operator()() const {
        if (left == 0) return apgas::here().id();
        return at(test::next(apgas::here()), hop{left - 1}) + 1;
      }
    };
    const int hops = rounds * apgas::num_places();
    EXPECT_EQ(at(p, hop{hops}), p.id() + hops);
  }
}

TEST(at, leaves_tasks_to_the_finish_of_the_caller) {
  const auto ended = apgas::make_global<std::atomic<int>>(0);
  for (place p : apgas::places()) {
    apgas::finish([&] {
      at(p, [ended] {
        apgas::async([ended] {
          apgas::yield();
          at(ended.home(), [ended] { ++*ended; });
        });
        apgas::async_at(test::next(apgas::here()),
                        [ended] { at(ended.home(), [ended] { ++*ended; }); });
      });
    });
    EXPECT_EQ(ended->exchange(0), 2) << p;
  }
  ended.forget();
}

TEST(at, carries_sixteen_mebibytes_both_ways) {
  std::vector<std::uint64_t> big((std::size_t{16} << 20) / sizeof(std::uint64_t));
  std::iota(big.begin(), big.end(), 0U);
  for (place p : apgas::places()) {
    const auto back = at(
        p,
        [](std::vector<std::uint64_t>& v) {
          for (auto& x : v) x = ~x;
          return std::move(v);
        },
        big);
    ASSERT_EQ(back.size(), big.size());
    for (std::size_t i = 0; i < big.size(); ++i) ASSERT_EQ(back[i], ~big[i]);
  }
}

TEST(at, is_called_by_many_tasks_at_a_time) {
  const int n = 2000 / test::slower;
  std::atomic<long> sum{0};
  apgas::finish([&] {
    for (int i = 0; i < n; ++i) {
      apgas::async([&sum, i] {
        const place p(i % apgas::num_places());
        sum += at(p, [](int x) { return 2L * x; }, i);
      });
    }
  });
  EXPECT_EQ(sum, static_cast<long>(n) * (n - 1));
}

// The called function sees what the caller has written before, and the caller sees afterwards what
// the function has written.
TEST(at, orders_memory) {
  static long there = 0;  // one for each process; with the transport local, one for all places
  for (place p : apgas::places()) {
    for (long i = 1; i <= 1000; ++i) {
      at(p, [i] { there = i; });
      at(p, [i] { check(there == i); });
    }
  }
}

}  // namespace
