// SPDX-License-Identifier: Apache-2.0
// apgas::run is called many times in one process. MPI starts once, and nothing is left from one run
// to the next.
#include <atomic>
#include <cstddef>

#include <gtest/gtest.h>

#include <apgas/scheduler/scheduler.hpp>
#include <apgas/scheduler/stacks.hpp>

#include "check.hpp"

namespace {

int arguments = 0;
char** values = nullptr;

template <class F>
int run(F main) {
  return apgas::run(arguments, values, main);
}

TEST(run_again, returns_the_code_of_main) {
  EXPECT_EQ(run([] {}), 0);
  EXPECT_EQ(run([] { return 7; }), 7);
  EXPECT_EQ(run([](int argc, char**) { return argc; }), arguments);
  EXPECT_EQ(apgas::run(arguments, values, {.workers = 1}, [] { return apgas::num_workers(); }), 1);
}

TEST(run_again, works_many_times) {
  int here = 0;
  EXPECT_EQ(run([] { return apgas::num_places(); }) > 1,
            apgas::run(arguments, values, [&] { return apgas::num_places() > 1; }) != 0);
  const bool one = run([] { return apgas::num_places(); }) == 1;
  const int times = (one ? 1000 : 50) / (one ? test::slower : 1);
  for (int i = 0; i < times; ++i) {
    const int code = run([i] {
      std::atomic<int> sum{0};
      const auto counter = apgas::make_global<std::atomic<int>*>(&sum);
      apgas::finish([counter] {
        for (apgas::place p : apgas::places()) {
          apgas::async_at(p, [counter] {
            apgas::async([counter] { apgas::at(counter.home(), [counter] { ++**counter; }); });
          });
        }
      });
      return sum == apgas::num_places() ? i % 100 : 255;
    });
    ASSERT_EQ(code, i % 100);
    ++here;
  }
  EXPECT_EQ(here, times);
  EXPECT_EQ(apgas::scheduler::stacks_in_use(), 0U);
}

TEST(run_again, works_after_a_failure) {
  EXPECT_EQ(run([] { throw std::runtime_error("expected by the test"); }), 1);
  EXPECT_EQ(run([] {
              apgas::async_at(test::last(), [] { throw std::logic_error("expected by the test"); });
              return 5;
            }),
            1);
  EXPECT_EQ(run([] {
              apgas::uncounted_async_at(test::last(),
                                        [] { throw std::logic_error("expected by the test"); });
            }),
            1);
  EXPECT_EQ(run([] {  // no task looks at this future
              static_cast<void>(apgas::async_future_at(
                  test::last(), [] { throw std::logic_error("expected by the test"); }));
            }),
            1);
  EXPECT_EQ(run([] { return 3; }), 3);
}

TEST(run_again, remaining_objects_end_with_the_run) {
  static std::atomic<int> alive{0};
  struct tracked {
    tracked() { ++alive; }
    tracked(const tracked&) = delete;
    ~tracked() { --alive; }
  };
  static apgas::global_ref<tracked> old;
  run([] {
    old = apgas::make_global<tracked>();
    static_cast<void>(apgas::place_local<tracked>::make(apgas::places(), [] { return tracked(); }));
  });
  EXPECT_EQ(alive, 0);
  run([] { EXPECT_THROW(*old, apgas::illegal_operation); });
}

TEST(run_again, rejects_pointers_of_an_earlier_run) {
  static apgas::global_ptr<long> old;
  run([] {
    old = apgas::allocate<long>(test::last(), 10);
    apgas::rput(5, old);
  });
  run([] {
    EXPECT_THROW(apgas::rget(old), apgas::illegal_operation);
    const auto fresh = apgas::allocate<long>(test::last(), 10);
    EXPECT_THROW(apgas::rput(1, old), apgas::illegal_operation);
    EXPECT_THROW(apgas::deallocate(old), apgas::illegal_operation);
    EXPECT_EQ(apgas::rget(fresh), 0);
  });
}

TEST(run_again, rejects_a_nested_run) {
  EXPECT_EQ(run([] {
              EXPECT_THROW(apgas::run(0, nullptr, [] {}), apgas::illegal_operation);
              return 4;
            }),
            4);
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  arguments = argc;
  values = argv;
  return RUN_ALL_TESTS();
}
