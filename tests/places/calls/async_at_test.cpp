// SPDX-License-Identifier: Apache-2.0
// async_at, uncounted_async_at and detached_async: many tasks at other places, and the finish that
// waits for them.
#include <atomic>
#include <memory>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "check.hpp"

namespace {

using apgas::async_at;
using apgas::place;
using test::check;

// One for each process; with the transport local, one for all places.
std::atomic<long> counted{0};

long sum_and_reset() {
  // exchange() counts each counter once, also if all places share one.
  long sum = 0;
  for (place p : apgas::places()) sum += apgas::at(p, [] { return counted.exchange(0); });
  return sum;
}

TEST(async_at, finish_waits_for_tasks_everywhere) {
  for (int round = 0; round < 20; ++round) {
    apgas::finish([] {
      for (place p : apgas::places()) {
        async_at(p, [p] {
          check(apgas::here() == p);
          apgas::yield();
          ++counted;
        });
      }
    });
    EXPECT_EQ(sum_and_reset(), apgas::num_places());
  }
}

struct bounce {
  int left;
  void operator()() const {
    if (left == 0) {
      ++counted;
    } else {
      async_at(test::next(apgas::here()), bounce{left - 1});
    }
  }
};

// Tasks that follow each other quickly arrive together. A deque has room for 256 of them at first;
// the next one runs at once, so that the memory of the message may be gone when the last has run.
TEST(async_at, as_many_tasks_as_a_worker_holds_arrive_together) {
  for (int tasks = 254; tasks <= 258; ++tasks) {
    for (int round = 0; round < 20; ++round) {
      apgas::finish([tasks] {
        for (int i = 0; i < tasks; ++i) async_at(test::last(), [](int k) { counted += k; }, i);
      });
      EXPECT_EQ(sum_and_reset(), tasks * (tasks - 1) / 2);
    }
  }
}

TEST(async_at, bounces_ten_thousand_times) {
  apgas::finish([] { async_at(test::next(apgas::here()), bounce{10'000}); });
  EXPECT_EQ(sum_and_reset(), 1);
}

TEST(async_at, bounces_in_an_inner_finish_of_each_place) {
  apgas::finish([] {
    for (place p : apgas::places()) {
      async_at(p, [] {
        apgas::finish([] { async_at(test::next(apgas::here()), bounce{1000}); });
        ++counted;
      });
    }
  });
  EXPECT_EQ(sum_and_reset(), 2 * apgas::num_places());
}

TEST(async_at, goes_from_all_places_to_all) {
  int each = 20'000 / test::slower;
  apgas::finish([each] {
    for (place p : apgas::places()) {
      async_at(p, [each] {
        for (int i = 0; i < each; ++i) {
          async_at(place(i % apgas::num_places()), [](int k) { counted += k % 3; }, i);
        }
      });
    }
  });
  long expected = 0;
  for (int i = 0; i < each; ++i) expected += i % 3;
  EXPECT_EQ(sum_and_reset(), expected * apgas::num_places());
}

TEST(async_at, sends_more_than_the_send_queue_holds) {
  const int n = 300 / test::slower;
  const std::vector<char> megabyte(1U << 20, 'x');
  apgas::finish([&] {
    for (int i = 0; i < n; ++i) {
      async_at(
          test::last(), [](const std::vector<char>& v) { counted += v[v.size() - 1] == 'x'; },
          megabyte);
    }
  });
  EXPECT_EQ(sum_and_reset(), n);
}

TEST(async_at, takes_mutable_closures_and_move_only_arguments) {
  for (place p : apgas::places()) {
    apgas::finish([&] {
      async_at(
          p,
          [n = 0](std::unique_ptr<int> x) mutable {
            n += *x;
            check(n == 3);
          },
          std::make_unique<int>(3));
    });
  }
}

// After a finish, the writes of its tasks are visible.
TEST(async_at, orders_memory) {
  static std::vector<long> here_only(64);
  for (long round = 1; round <= 200; ++round) {
    apgas::finish([round] {
      for (std::size_t i = 0; i < here_only.size(); ++i) {
        async_at(test::next(apgas::here()),
                 [i, round] { async_at(place(0), [i, round] { here_only[i] = round; }); });
      }
    });
    for (long x : here_only) ASSERT_EQ(x, round);
  }
}

TEST(uncounted_async_at, is_not_awaited_by_the_finish) {
  const auto released = apgas::make_global<std::atomic<bool>>(false);
  const auto done = apgas::make_global<std::atomic<int>>(0);
  apgas::finish([&] {
    for (place p : apgas::places()) {
      apgas::uncounted_async_at(p, [released, done] {
        // Would wait forever if the finish waited for this task.
        while (!apgas::at(released.home(), [released] { return released->load(); })) apgas::yield();
        apgas::at(done.home(), [done] { ++*done; });
      });
    }
  });
  EXPECT_EQ(*done, 0);
  *released = true;
  while (*done < apgas::num_places()) apgas::yield();
}

TEST(detached_async, is_not_awaited_by_the_finish) {
  for (const place p : apgas::places()) {
    apgas::at(p, [] {
      auto released = std::make_shared<std::atomic<bool>>(false);
      auto done = std::make_shared<std::atomic<int>>(0);
      apgas::finish([&] {
        for (int i = 0; i < 10; ++i) {
          auto one = std::make_unique<int>(1);
          apgas::detached_async([released, done, one = std::move(one)] {
            // Would wait forever if the finish waited for this task.
            while (!*released) apgas::yield();
            *done += *one;
          });
        }
      });
      check(*done == 0);
      *released = true;
      while (*done < 10) apgas::yield();
    });
  }
}

TEST(detached_async, may_call_other_places) {
  const auto done = apgas::make_global<std::atomic<int>>(0);
  apgas::finish([&] {
    for (const place p : apgas::places()) {
      apgas::async_at(p, [done] {
        apgas::detached_async([done] {
          apgas::finish([done] { apgas::async_at(done.home(), [done] { ++*done; }); });
        });
      });
    }
  });
  while (*done < apgas::num_places()) apgas::yield();
}

TEST(uncounted_async_at, works_in_inner_finishes_of_other_places) {
  const auto done = apgas::make_global<std::atomic<int>>(0);
  for (place p : apgas::places()) {
    async_at(p, [done] {
      apgas::finish([done] {
        for (place q : apgas::places()) {
          apgas::uncounted_async_at(q, [done] { apgas::at(done.home(), [done] { ++*done; }); });
        }
      });
    });
  }
  const int expected = apgas::num_places() * apgas::num_places();
  while (*done < expected) apgas::yield();
  EXPECT_EQ(*done, expected);
}

}  // namespace
