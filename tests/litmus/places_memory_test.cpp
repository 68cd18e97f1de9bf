// SPDX-License-Identifier: Apache-2.0

// Litmus tests of memory ordering between places: what one-sided accesses, remote atomics, messages
// and the end of a finish promise about each other and about ordinary variables.

#include <atomic>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/apgas.hpp>

#include "places/check.hpp"

namespace {

using apgas::allocate;
using apgas::deallocate;
using apgas::global_ptr;
using apgas::place;

constexpr int rounds = 2000 / test::slower;

int plain = 0;  // at each place

// Calls f(0), f(1), ... Two tasks that call this with the same counter begin each round together.
template <class F>
std::vector<int> in_rounds(global_ptr<int> arrived, F f) {
  std::vector<int> results;
  for (int i = 0; i < rounds; ++i) {
    apgas::fetch_add(arrived, 1);
    while (apgas::atomic_load(arrived) < 2 * (i + 1)) apgas::yield();
    results.push_back(f(i));
  }
  return results;
}

// Store buffering: two tasks write a word each and then read the other's. At least one of them
// must see the other's write.
template <class First, class Second>
void check_store_buffering(First first, Second second) {
  const auto arrived = allocate<int>(place(0), 1);
  auto of_second = apgas::async_future_at(test::last(),
                                          [arrived, second] { return in_rounds(arrived, second); });
  const std::vector<int> of_first = in_rounds(arrived, first);
  EXPECT_EQ(of_first.size(), std::size_t{rounds});
  const std::vector<int> others = of_second.get();
  for (std::size_t i = 0; i < of_first.size(); ++i) ASSERT_TRUE(of_first[i] || others[i]) << i;
  deallocate(arrived);
}

TEST(litmus_between_places, store_buffering_by_remote_atomics) {
  for (const place first : {place(0), test::last()}) {
    for (const place second : {place(0), test::last()}) {
      const auto x = allocate<int>(first, rounds);
      const auto y = allocate<int>(second, rounds);
      check_store_buffering(
          [=](int i) {
            apgas::atomic_store(x + i, 1);
            return apgas::atomic_load(y + i);
          },
          [=](int i) {
            apgas::atomic_store(y + i, 1);
            return apgas::atomic_load(x + i);
          });
      deallocate(x);
      deallocate(y);
    }
  }
}

TEST(litmus_between_places, store_buffering_with_atomic_refs_at_the_home) {
  const auto x = allocate<int>(place(0), rounds);
  const auto y = allocate<int>(test::last(), rounds);
  check_store_buffering(
      [=](int i) {
        std::atomic_ref(*(x + i).local()).store(1);
        return apgas::atomic_load(y + i);
      },
      [=](int i) {
        std::atomic_ref(*(y + i).local()).store(1);
        return apgas::atomic_load(x + i);
      });
  deallocate(x);
  deallocate(y);
}

// Message passing: a task writes data, then a flag; a task that sees the flag sees the data.
TEST(litmus_between_places, message_passing_by_a_remote_atomic) {
  for (const place home : {place(0), test::last()}) {
    const auto data = allocate<int>(home, rounds);
    const auto flag = allocate<int>(test::last(), 1);
    auto seen = apgas::async_future_at(test::last(), [=] {
      for (int i = 0; i < rounds; ++i) {
        while (apgas::atomic_load(flag) < i + 1) apgas::yield();
        if (apgas::rget(data + i) != i + 1) return i;
      }
      return rounds;
    });
    for (int i = 0; i < rounds; ++i) {
      apgas::rput(i + 1, data + i);
      apgas::atomic_store(flag, i + 1);
    }
    EXPECT_EQ(seen.get(), rounds);
    deallocate(data);
    deallocate(flag);
  }
}

TEST(litmus_between_places, message_passing_by_a_task) {
  const auto data = allocate<int>(test::last(), rounds);
  auto wrong = allocate<int>(place(0), 1);
  apgas::finish([=] {
    for (int i = 0; i < rounds; ++i) {
      apgas::rput(i + 1, data + i);
      apgas::async_at(test::last(), [=] {
        if (*(data + i).local() != i + 1) apgas::fetch_add(wrong, 1);
      });
    }
  });
  EXPECT_EQ(apgas::rget(wrong), 0);
  deallocate(data);
  deallocate(wrong);
}

TEST(litmus_between_places, message_passing_by_the_end_of_a_finish) {
  const auto data = allocate<int>(test::last(), 16);
  for (int i = 0; i < rounds; ++i) {
    apgas::finish([=] {
      for (int k = 0; k < 16; ++k) apgas::async_rput(i + k, data + k);
    });
    const bool right = apgas::at(test::last(), [=] {
      bool all = true;
      for (int k = 0; k < 16; ++k) all = all && (data + k).local()[0] == i + k;
      return all;
    });
    ASSERT_TRUE(right) << i;
  }
  deallocate(data);
}

// A call sees what earlier calls and tasks of the same place wrote into its ordinary variables, on
// whatever worker they ran.
TEST(litmus_between_places, ordinary_variables_of_a_place) {
  const place there = test::last();
  for (int i = 0; i < rounds; ++i) {
    apgas::at(there, [](int value) { plain = value; }, i);
    ASSERT_EQ(apgas::at(there, [] { return plain; }), i);
    apgas::finish([=] { apgas::async_at(there, [](int value) { plain = value; }, i + 1); });
    const int read = apgas::at(there, [] {
      int found = 0;
      apgas::finish([&found] { apgas::async([&found] { found = plain; }); });
      return found;
    });
    ASSERT_EQ(read, i + 1);
  }
}

}  // namespace
