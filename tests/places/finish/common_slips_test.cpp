// SPDX-License-Identifier: Apache-2.0
// The common slips of docs/errors.md that show only when the program runs: one sentence says what
// to do, and the program can go on. Those that show earlier are in tests/compile_fail.
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "check.hpp"

namespace {

using test::message_of;

// The same on a thread of the program's own, which is no task.
template <class F>
std::string message_outside(F f) {
  std::string message;
  apgas::blocking([&] { std::thread([&] { message = message_of(f); }).join(); });
  return message;
}

TEST(CommonSlips, AConstructOutsideATask) {
  const std::string wanted =
      " was called outside a task: on a thread of your own, or before apgas::run; call it from the "
      "function given to apgas::run or runtime::run, or from a task spawned there";
  EXPECT_EQ(message_outside([] { apgas::async([] {}); }), "async" + wanted);
  EXPECT_EQ(message_outside([] { apgas::finish([] {}); }), "finish" + wanted);
  EXPECT_EQ(message_outside([] { apgas::at(apgas::place(), [] {}); }), "at" + wanted);
  EXPECT_EQ(message_outside([] { static_cast<void>(apgas::here()); }), "here" + wanted);
}

TEST(CommonSlips, RunIsCalledWhileItIsActive) {
  EXPECT_EQ(message_outside([] { apgas::run(0, nullptr, [] {}); }),
            "apgas::run was called while it is active in another thread; one program at a time");
  EXPECT_EQ(message_of([] { apgas::run(0, nullptr, [] {}); }),
            "apgas::run was called by a task; it starts the program, once at a time");
}

TEST(CommonSlips, APlaceThatDoesNotExist) {
  const int n = apgas::num_places();
  const std::string message = message_of([n] { static_cast<void>(apgas::place(n)); });
  EXPECT_NE(
      message.find("place " + std::to_string(n) + " was asked for, but the program runs with "),
      std::string::npos)
      << message;
  EXPECT_NE(message.find("or ask apgas::num_places()"), std::string::npos) << message;
}

TEST(CommonSlips, AnOfferOutsideFinishReduce) {
  const std::string wanted =
      "offer was called in a task whose innermost finish collects nothing; use finish_reduce";
  EXPECT_EQ(message_of([] { apgas::offer(1); }), wanted);
  apgas::finish_reduce(0, apgas::sum(), [&] {
    apgas::finish([&] { EXPECT_EQ(message_of([] { apgas::offer(1); }), wanted); });
  });
}

TEST(CommonSlips, AClockThatIsEmpty) {
  const apgas::clock c;
  EXPECT_EQ(message_of([c] { c.advance(); }),
            "clock::advance was called on an empty clock; make one with clock::make()");
  EXPECT_EQ(message_of([c] { apgas::async(apgas::clocked(c), [] {}); }),
            "async was called on an empty clock; make one with clock::make()");
}

TEST(CommonSlips, AClockOnWhichTheTaskIsNotRegistered) {
  apgas::finish([] {
    const auto c = apgas::clock::make();
    apgas::async([c] {
      EXPECT_EQ(message_of([c] { c.advance(); }),
                "clock::advance was called by a task that is not registered on the clock: it was "
                "spawned without clocked(c), is a branch of a fork_join or loop, or has dropped "
                "it; spawn it with async(clocked(c), f)");
    });
  });
}

TEST(CommonSlips, APhaserInAFinishThatBeganAfterIt) {
  const apgas::phaser ph;
  apgas::finish([ph] {
    const auto spawn = [ph] { apgas::async(phased(ph, apgas::phaser_mode::signal), [] {}); };
    EXPECT_EQ(message_of(spawn),
              "async was given a phaser that the task acquired outside the innermost finish, which "
              "would wait for a child that waits for this task; spawn the child outside that "
              "finish, make a phaser inside it, or use a clock");
  });
  ph.drop();
}

TEST(CommonSlips, AClockedAsyncWithoutClockedFinish) {
  EXPECT_EQ(message_of([] { apgas::clocked_async([] {}); }),
            "clocked_async was called by a task that is not registered on the clock of a "
            "clocked_finish; call it in the body of clocked_finish or in a task that "
            "clocked_async spawned there");
}

// What the page says of a missing finish: the task is not lost, but ends later.
TEST(CommonSlips, WithoutAFinishTheEnclosingOneWaits) {
  bool ended = false;
  apgas::finish([&] {
    const auto work = [&] { apgas::async([&] { ended = true; }); };
    work();
  });
  EXPECT_TRUE(ended);
}

// What the page says of a reference parameter: it refers to the copy at the other place.
TEST(CommonSlips, AReferenceParameterRefersToTheCopy) {
  int n = 1;
  for (apgas::place p : apgas::places()) {
    EXPECT_EQ(apgas::at(p, [](int& copy) { return ++copy; }, n), 2);
  }
  EXPECT_EQ(n, 1);
}

}  // namespace
