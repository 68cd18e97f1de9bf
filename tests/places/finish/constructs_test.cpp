// SPDX-License-Identifier: Apache-2.0
// The constructs of a single place, run at each place: also where the finish is a remote one.
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "check.hpp"

namespace {

using apgas::place;
using test::check;

// Runs body as a task at each place, one place after the other, under one finish.
template <class F>
void everywhere(F body) {
  apgas::finish([&] {
    for (place p : apgas::places()) apgas::async_at(p, body);
  });
}

long fib(int n) {
  if (n < 2) return n;
  const auto [a, b] = apgas::fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a + b;
}

TEST(constructs, finish_and_async) {
  everywhere([] {
    std::atomic<int> n{0};
    const int value = apgas::finish([&] {
      for (int i = 0; i < 100; ++i) {
        apgas::async([&n] { apgas::async(apgas::name("inner"), [&n] { ++n; }); });
      }
      apgas::begin([&n] { ++n; });
      return 5;
    });
    check(n == 101 && value == 5);
  });
}

TEST(constructs, fork_join) {
  everywhere([] {
    check(fib(16) == 987);
    const auto [a, b, c] =
        apgas::fork_join([] { return 1; }, [] {}, [] { return std::string("three"); });
    static_assert(std::is_same_v<decltype(b), const std::monostate>);
    check(a == 1 && c == "three");
  });
}

TEST(constructs, waiting) {
  everywhere([] {
    const auto begin = std::chrono::steady_clock::now();
    apgas::sleep_until(begin + std::chrono::milliseconds(2));
    check(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(2));
    apgas::promise<int> never;
    apgas::promise<int> soon;
    std::atomic<int> awaited{0};
    apgas::finish([&] {
      apgas::async_await([&] { awaited = soon.get_future().get(); }, soon.get_future());
      apgas::async([soon] { soon.set_value(7); });
      check(apgas::when_any(never.get_future(), soon.get_future()).get().index == 1);
    });
    check(awaited == 7);
    never.set_value(0);
  });
}

// Each place has its own critical sections, variables and queues.
TEST(constructs, exclusion_and_synchronisation_variables) {
  everywhere([] {
    int turn = 0;
    apgas::monitor m;
    apgas::sync_var<int> v;
    apgas::channel<int> c(2);
    apgas::finish([&] {
      for (int i = 9; i >= 0; --i) {
        apgas::async([&, i] {
          apgas::when([&, i] { return turn == i; }, [&] { ++turn; });
          m.when([] { return true; }, [] {});
          v.write_ef(i);
        });
      }
      apgas::async([&] {
        for (int i = 0; i < 10; ++i) c.send(v.read_fe());
        c.close();
      });
      int sum = 0;
      while (const auto x = c.receive()) sum += *x;
      check(sum == 45);
    });
    check(apgas::atomic([&] { return turn; }) == 10);
  });
}

TEST(constructs, clocks_and_phasers_at_every_place) {
  everywhere([] {
    std::atomic<int> sum{0};
    apgas::clocked_finish([&] {
      for (int i = 0; i < 20; ++i) {
        apgas::clocked_async([&] {
          ++sum;
          apgas::clock::advance_all();
          check(sum == 20);
        });
      }
    });
    apgas::finish([] {
      apgas::phaser ph;
      const apgas::accumulator<int> total(ph);
      for (int i = 0; i < 20; ++i) {
        apgas::async(apgas::phased(ph, apgas::phaser_mode::signal), [total] { total.send(1); });
      }
      ph.next();
      check(total.result() == 20);
    });
  });
}

// A handle is a name. A task that is not registered may send and compare it, but not use the clock.
TEST(constructs, a_handle_of_a_clock_registers_nobody) {
  const auto c = apgas::clock::make();
  apgas::finish([c] {
    for (const apgas::place p : apgas::places()) {
      apgas::async_at(
          p,
          [](apgas::clock other) {
            const auto own = apgas::clock::make();
            check(!other.registered() && own.registered());
            bool thrown = false;
            try {
              other.advance();
            } catch (const apgas::clock_use_error&) {
              thrown = true;
            }
            check(thrown);
            own.drop();
          },
          c);
    }
  });
  c.drop();
}

TEST(constructs, loops) {
  everywhere([] {
    std::vector<int> v(5000);
    apgas::forall(0, 5000, [&](int i) { v[static_cast<std::size_t>(i)] = i; });
    apgas::forall(v, [](int& x) { x *= 2; });
    std::vector<int> w(50);
    apgas::coforall(0, 50, [&](int i) {
      apgas::yield();
      w[static_cast<std::size_t>(i)] = i;
    });
    apgas::coforall(w, [](int& x) { ++x; });
    check(std::accumulate(v.begin(), v.end(), 0) == 4999 * 5000);
    check(std::accumulate(w.begin(), w.end(), 0) == 50 * 51 / 2);
    const long sum = apgas::parallel_reduce(
        0, 10'000, 0L, [](int i) { return static_cast<long>(i); }, std::plus<>());
    check(sum == 9999L * 5000);
  });
}

TEST(constructs, loops_with_iterations_at_other_places) {
  everywhere([] {
    std::atomic<long> sum{0};
    apgas::coforall(0, 20, [&sum](int i) {
      sum += apgas::at(place(i % apgas::num_places()), [](int x) { return x; }, i);
    });
    check(sum == 190);
    apgas::forall(0, 20, [&sum](int i) {
      sum -= apgas::at(place(i % apgas::num_places()), [](int x) { return x; }, i);
    });
    check(sum == 0);
  });
}

TEST(constructs, finish_reduce_over_all_places) {
  for (place home : apgas::places()) {
    const auto total = apgas::at(home, [] {
      return apgas::finish_reduce(
          std::string(), [](std::string a, std::string b) { return a + b; },
          [] {
            for (place p : apgas::places()) {
              apgas::async_at(p, [] {
                for (int i = 0; i < 3; ++i) {
                  apgas::async([] { apgas::offer(std::string("x")); });
                }
              });
            }
          });
    });
    EXPECT_EQ(total, std::string(static_cast<std::size_t>(3 * apgas::num_places()), 'x'));
  }
  EXPECT_EQ(apgas::finish_reduce(7, std::plus<>(), [] {}), 7);
}

// Both ends of a connection must count the same bytes for flow control; otherwise it blocks at some
// time. A difference of 8 bytes for each task shows after 131,072 tasks.
TEST(constructs, finish_reduce_many_times) {
  int n = 20'000 / test::slower;
  for (int round = 0; round < 10; ++round) {
    const long sum = apgas::finish_reduce(0L, std::plus<>(), [n] {
      for (int i = 0; i < n; ++i) {
        apgas::async_at(test::last(), [](int x) { apgas::offer(static_cast<long>(x)); }, i);
      }
    });
    ASSERT_EQ(sum, static_cast<long>(n) * (n - 1) / 2);
  }
}

TEST(constructs, finish_reduce_rejects_offers_of_another_type) {
  for (place p : apgas::places()) {
    EXPECT_THROW(apgas::at(p, [] { apgas::offer(1); }), apgas::illegal_operation);
    try {
      apgas::finish_reduce(0L, std::plus<>(), [p] {
        apgas::async_at(p, [] { apgas::offer(std::string("no number")); });
      });
      FAIL();
    } catch (const apgas::multiple_exceptions& several) {
      ASSERT_EQ(several.size(), 1U);
      EXPECT_THROW(std::rethrow_exception(several[0].exception()), apgas::illegal_operation);
      EXPECT_NE(std::string(several.what()).find("string"), std::string::npos) << several.what();
    }
  }
}

TEST(constructs, finishes_of_different_homes_at_the_same_place) {
  everywhere([] {
    for (int round = 0; round < 10; ++round) {
      std::atomic<int> mine{0};
      const auto ref = apgas::make_global<std::atomic<int>*>(&mine);
      apgas::finish([&] {
        for (place p : apgas::places()) {
          apgas::async_at(p, [ref] {
            apgas::async_at(test::next(apgas::here()),
                            [ref] { apgas::async_at(ref.home(), [ref] { ++**ref; }); });
          });
        }
      });
      check(mine == apgas::num_places());
      ref.forget();
    }
  });
}

TEST(constructs, worker_local_and_sleep) {
  using namespace std::chrono_literals;
  everywhere([] {
    apgas::worker_local<long> sums;
    apgas::forall(0, 1000, [&](int i) { *sums += i; });
    check(sums.reduce(std::plus<>()) == 499'500);
    const auto begin = std::chrono::steady_clock::now();
    apgas::sleep_for(5ms);
    check(std::chrono::steady_clock::now() - begin >= 5ms);
    check(apgas::blocking([] { return 3; }) == 3);
  });
}

}  // namespace
