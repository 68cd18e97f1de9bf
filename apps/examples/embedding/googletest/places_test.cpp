// SPDX-License-Identifier: Apache-2.0

// Tests of GoogleTest that use tasks and several places. GoogleTest keeps main; the runtime is
// there before the first test and ends after the last one.

#include <array>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <apgas/apgas.hpp>

namespace {

// The runtime of this process, for all tests.
std::unique_ptr<apgas::runtime> the_runtime;

// Tests of this fixture run on the thread of GoogleTest. What they give to run() is a task of place
// 0, and run() waits for it. EXPECT works in tasks of place 0; the GoogleTest of another place has
// no test to blame, so tasks there return a value or throw.
class tasks : public testing::Test {
 protected:
  template <class F>
  static auto run(F f) {
    return the_runtime->run(std::move(f));
  }
};

TEST_F(tasks, fork_and_join) {
  const auto [left, right] =
      run([] { return apgas::fork_join([] { return 3; }, [] { return 4; }); });
  EXPECT_EQ(left + right, 7);
}

TEST_F(tasks, advance_together) {
  run([] {
    std::array<int, 4> steps{};
    apgas::clocked_finish([&] {
      for (int& mine : steps) {
        apgas::clocked_async([&steps, &mine] {
          ++mine;
          apgas::clock::advance_all();
          for (const int each : steps) EXPECT_EQ(each, 1);
        });
      }
    });
  });
}

TEST_F(tasks, reach_every_place) {
  const int places = the_runtime->num_places();
  const int sum = run([] {
    return apgas::finish_reduce(0, std::plus<>(), [] {
      apgas::async_at(apgas::places(), [] { apgas::offer(apgas::here().id()); });
    });
  });
  EXPECT_EQ(sum, places * (places - 1) / 2);
}

TEST_F(tasks, throw_to_the_test) {
  const auto failing = [] {
    const apgas::place last(apgas::num_places() - 1);
    apgas::async_at(last, [] { throw std::out_of_range("row 7"); });
  };
  try {
    run(failing);
    FAIL() << "nothing was thrown";
  } catch (const apgas::multiple_exceptions& several) {
    ASSERT_EQ(several.size(), 1U);
    EXPECT_EQ(several[0].place_id(), the_runtime->num_places() - 1);
    EXPECT_THROW(std::rethrow_exception(several[0]), std::out_of_range);
  }
}

TEST_F(tasks, go_on_while_the_test_does_something_else) {
  auto later = the_runtime->submit([] {
    return apgas::at(
        apgas::place(0), [](const std::string& name) { return "hello " + name; },
        std::string("test"));
  });
  EXPECT_EQ(later.get(), "hello test");
}

}  // namespace

// The runtime comes first: where APGAS_PLACES asks for processes, it starts this program again with
// all of its arguments, which GoogleTest takes away.
int main(int argc, char** argv) {
  the_runtime = std::make_unique<apgas::runtime>(argc, argv);
  if (the_runtime->place_id() != 0) return the_runtime->serve();
  testing::InitGoogleTest(&argc, argv);
  return the_runtime->stop(RUN_ALL_TESTS());
}
