// SPDX-License-Identifier: Apache-2.0
// global_ref and place_local.
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "check.hpp"

namespace {

using apgas::at;
using apgas::global_ref;
using apgas::make_global;
using apgas::place;
using apgas::place_group;
using apgas::place_local;
using test::check;

static_assert(std::is_trivially_copyable_v<global_ref<std::string>>);
static_assert(std::is_trivially_copyable_v<place_local<std::string>>);
static_assert(sizeof(global_ref<int>) == 16 && sizeof(place_local<int>) == 16);

// Counts its instances in this process.
struct tracked {
  static inline std::atomic<int> alive{0};
  explicit tracked(int v) : value(v) { ++alive; }
  tracked(const tracked&) = delete;
  tracked& operator=(const tracked&) = delete;
  ~tracked() { --alive; }
  int value;
};

TEST(global_ref, is_used_at_home) {
  const auto text = make_global<std::string>("here");
  static_assert(std::is_same_v<decltype(text), const global_ref<std::string>>);
  EXPECT_EQ(text.home(), apgas::here());
  EXPECT_EQ(*text, "here");
  EXPECT_EQ(text->size(), 4U);
  const global_ref<long> sum = make_global(0L);
  apgas::finish([sum] {
    for (place p : apgas::places()) {
      apgas::async_at(p, [sum] {
        for (int i = 0; i < 100; ++i)
          apgas::async_at(sum.home(), [sum] { std::atomic_ref(*sum).fetch_add(1); });
      });
    }
  });
  EXPECT_EQ(*sum, 100L * apgas::num_places());
  sum.forget();
  text.forget();
}

TEST(global_ref, throws_at_other_places) {
  const auto x = make_global(7);
  for (place p : apgas::places()) {
    if (p == apgas::here()) continue;
    EXPECT_THROW(at(p, [x] { return *x; }), apgas::bad_place);
    EXPECT_EQ(at(p, [x] { return x.home(); }), place());
    EXPECT_EQ(at(p, [](global_ref<int> r) { return at(r.home(), [r] { return *r; }); }, x), 7);
  }
  x.forget();
}

TEST(global_ref, is_made_and_forgotten_anywhere) {
  for (place p : apgas::places()) {
    const auto r = at(p, [] { return make_global<tracked>(5); });
    EXPECT_EQ(r.home(), p);
    EXPECT_EQ(at(p, [r] { return r->value; }), 5);
    r.forget();  // runs at p
    EXPECT_EQ(at(p, [] { return tracked::alive.load(); }), 0);
    EXPECT_THROW(r.forget(), apgas::illegal_operation);
    EXPECT_THROW(at(p, [r] { r->value = 1; }), apgas::illegal_operation);
  }
}

TEST(global_ref, is_found_stale_when_its_slot_is_used_again) {
  std::vector<global_ref<int>> old;
  for (int i = 0; i < 1000; ++i) old.push_back(make_global(i));
  for (const auto& r : old) r.forget();
  std::vector<global_ref<int>> fresh;
  for (int i = 0; i < 1000; ++i) fresh.push_back(make_global(i + 1));
  for (int i = 0; i < 1000; ++i) {
    const auto n = static_cast<std::size_t>(i);
    EXPECT_THROW(*old[n], apgas::illegal_operation);
    EXPECT_EQ(*fresh[n], i + 1);
    EXPECT_FALSE(old[n] == fresh[n]);
  }
  for (const auto& r : fresh) r.forget();
  EXPECT_THROW(*global_ref<int>(), apgas::illegal_operation);
  EXPECT_THROW(global_ref<int>().forget(), apgas::illegal_operation);
}

// Generations begin with random bits of the process, so a handle of another job is detected.
TEST(global_ref, of_another_job_is_rejected) {
  const auto mine = make_global(3);
  auto bits = std::bit_cast<std::array<std::uint64_t, 2>>(mine);  // place and index, generation
  const std::uint64_t ours = bits[1] >> 32;
  EXPECT_NE(ours, 0U);
  bits[1] ^= std::uint64_t{1} << 40;
  EXPECT_THROW(*std::bit_cast<global_ref<int>>(bits), apgas::illegal_operation);
  mine.forget();
  const place last = test::last();
  const auto theirs =
      at(last, [] { return std::bit_cast<std::array<std::uint64_t, 2>>(make_global(4))[1] >> 32; });
  const bool one_process = at(last, [] { return getpid(); }) == getpid();
  EXPECT_EQ(theirs == ours, one_process);
}

TEST(place_local, of_another_job_is_rejected) {
  const auto mine = place_local<int>::make(apgas::places(), [] { return 1; });
  auto bits = std::bit_cast<std::array<std::uint64_t, 2>>(mine);
  bits[1] ^= std::uint64_t{1} << 40;
  const auto other = std::bit_cast<place_local<int>>(bits);
  EXPECT_THROW(*other, apgas::illegal_operation);
  EXPECT_THROW(other.destroy(), apgas::illegal_operation);
  mine.destroy();
}

TEST(global_ref, is_used_by_many_tasks_at_a_time) {
  apgas::finish([] {
    for (place p : apgas::places()) {
      apgas::async_at(p, [] {
        apgas::forall(0, 2000, [](int i) {
          const auto r = make_global(i);
          check(*r == i);
          r.forget();
        });
      });
    }
  });
}

TEST(place_local, has_a_value_at_each_place) {
  const auto ids = place_local<std::vector<int>>::make(
      apgas::places(), [] { return std::vector<int>(3, apgas::here().id()); });
  apgas::finish([ids] {
    for (place p : apgas::places()) {
      apgas::async_at(p, [ids] {
        check(ids->at(0) == apgas::here().id());
        (*ids)[1] += 100;
      });
    }
  });
  for (place p : apgas::places()) {
    EXPECT_EQ(ids.fetch(p), (std::vector<int>{p.id(), p.id() + 100, p.id()}));
  }
  ids.destroy();
  for (place p : apgas::places()) {
    EXPECT_THROW(at(p, [ids] { return ids->size(); }), apgas::illegal_operation);
  }
  EXPECT_THROW(ids.destroy(), apgas::illegal_operation);
}

TEST(place_local, is_made_at_any_place_for_any_group) {
  for (place maker : apgas::places()) {
    const place_group group{test::last()};
    const auto v = at(
        maker,
        [](const place_group& g, const std::string& text) {
          return place_local<std::string>::make(
              g, [](const std::string& t) { return t + std::to_string(apgas::here().id()); }, text);
        },
        group, std::string("value "));
    EXPECT_EQ(v.fetch(test::last()), "value " + std::to_string(test::last().id()));
    if (apgas::num_places() > 1) {
      EXPECT_THROW(*v, apgas::bad_place);
      EXPECT_THROW(v.fetch(place()), apgas::bad_place);
    }
    at(test::last(), [v] { v.destroy(); });
  }
  EXPECT_THROW(*place_local<int>(), apgas::illegal_operation);
  EXPECT_THROW(place_local<int>().destroy(), apgas::illegal_operation);
}

TEST(place_local, may_have_immovable_values) {
  int base = 10;
  const auto v = place_local<tracked>::make(apgas::places(),
                                            [base] { return tracked(base + apgas::here().id()); });
  for (place p : apgas::places()) {
    EXPECT_EQ(at(p, [v] { return v->value; }), 10 + p.id());
  }
  v.destroy();
  for (place p : apgas::places()) EXPECT_EQ(at(p, [] { return tracked::alive.load(); }), 0);
}

TEST(place_local, leaves_nothing_after_a_failed_init) {
  const auto make = [] {
    return place_local<tracked>::make(apgas::places(), [] {
      if (apgas::here() == test::last()) throw std::domain_error("no");
      return tracked(1);
    });
  };
  try {
    make();
    FAIL();
  } catch (const apgas::multiple_exceptions& several) {
    EXPECT_EQ(several.size(), 1U);
    EXPECT_EQ(several[0].place_id(), test::last().id());
  }
  for (place p : apgas::places()) EXPECT_EQ(at(p, [] { return tracked::alive.load(); }), 0);
}

TEST(place_local, is_made_by_many_tasks_at_a_time) {
  apgas::finish([] {
    for (place p : apgas::places()) {
      apgas::async_at(p, [] {
        for (int round = 0; round < 20; ++round) {
          apgas::async([round] {
            const auto v = place_local<int>::make(apgas::places(),
                                                  [round] { return round + apgas::here().id(); });
            for (place q : apgas::places()) check(v.fetch(q) == round + q.id());
            v.destroy();
          });
        }
      });
    }
  });
}

}  // namespace
