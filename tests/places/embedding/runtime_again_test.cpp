// SPDX-License-Identifier: Apache-2.0
// Runtimes one after the other over places, between calls of apgas::run: each ends in order, at all
// places with the same code. Every place runs these tests, in the same order.
#include <atomic>
#include <stdexcept>

#include <gtest/gtest.h>

#include "check.hpp"

namespace {

int arguments = 0;
char** values = nullptr;

// The end of a runtime at each place; place 0 runs f before.
template <class F>
int end_of_runtime(int code, F f) {
  apgas::runtime runtime(arguments, values);
  if (runtime.place_id() != 0) {
    const int served = runtime.serve();
    EXPECT_EQ(runtime.serve(), served);  // once
    return served;
  }
  runtime.run(f);
  return runtime.stop(code);
}

TEST(runtime_again, every_place_gets_the_code) {
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(end_of_runtime(i, [] { apgas::at(test::last(), [] {}); }), i);
    ASSERT_EQ(apgas::run(arguments, values, [i] { return i; }), i);
  }
}

TEST(runtime_again, an_uncounted_failure_makes_the_code_1) {
  EXPECT_EQ(end_of_runtime(5,
                           [] {
                             apgas::uncounted_async_at(test::last(), [] {
                               throw std::logic_error("expected by the test");
                             });
                           }),
            1);
}

TEST(runtime_again, destructors_are_enough) {
  for (int i = 0; i < 5; ++i) {
    apgas::runtime runtime(arguments, values);
    if (runtime.place_id() == 0) {
      EXPECT_EQ(runtime.run([] { return apgas::at(test::last(), [] { return 7; }); }), 7);
    }
  }
}

TEST(runtime_again, pointers_of_an_earlier_runtime_are_refused) {
  static apgas::global_ptr<long> old;
  end_of_runtime(0, [] { old = apgas::allocate<long>(test::last(), 10); });
  end_of_runtime(0, [] { EXPECT_THROW(apgas::rget(old), apgas::illegal_operation); });
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  arguments = argc;
  values = argv;
  return RUN_ALL_TESTS();
}
