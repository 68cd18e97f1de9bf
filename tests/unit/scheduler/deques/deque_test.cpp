// SPDX-License-Identifier: Apache-2.0
#include <apgas/scheduler/deque.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include <gtest/gtest.h>

// The deque in the hands of one thread: which tasks it gives out, in which order, and where in its
// array they lie. What several threads do at the same time is the matter of deque_model.
namespace apgas::test {
namespace {

struct numbered_slot {
  int number = 0;
  void add(std::ptrdiff_t) {}
  bool same_counter(const numbered_slot&) const { return true; }
  void assign(const numbered_slot& other) { *this = other; }
};

constexpr bool any_task(const numbered_slot&) { return true; }

class Deque : public testing::Test {
 protected:
  Deque() { tasks.reset(slots.data(), slots.size(), false); }

  void push(int number) {
    numbered_slot* const s = tasks.head();
    s->number = number;
    if (tasks.push(s)) {
      tasks.answer();
      static_cast<void>(tasks.attend(s + 1));
    }
  }
  // Steals at the time `now` of the thieves, whose patience is 10.
  std::vector<int> steal(std::uint64_t now) {
    std::array<numbered_slot, 8> taken;
    const std::size_t n = tasks.steal(taken.data(), taken.size(), {now, 10}).tasks;
    std::vector<int> numbers;
    for (std::size_t i = 0; i < n; ++i) numbers.push_back(taken[i].number);
    return numbers;
  }
  bool pop() { return tasks.pop(tasks.head() - 1); }

  std::array<numbered_slot, 64> slots;
  scheduler::deque<numbered_slot> tasks;
};

TEST_F(Deque, TasksDoNotWanderToTheEndOfTheArray) {
  std::deque<int> expected;
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_LT(tasks.head(), slots.data() + slots.size()) << i;
    push(i);
    expected.push_back(i);
    if (expected.size() < 4) continue;
    tasks.publish();
    numbered_slot oldest;
    ASSERT_TRUE(tasks.take_oldest(oldest, any_task)) << i;
    EXPECT_EQ(oldest.number, expected.front());
    expected.pop_front();
  }
}

TEST_F(Deque, RoomIsMadeBelowTheOldestTask) {
  for (int i = 0; !tasks.full(); ++i) push(i);
  const std::size_t all = tasks.size();
  EXPECT_TRUE(tasks.make_room());  // every task is there, so none can be moved
  std::vector<int> stolen;
  for (std::uint64_t now = 1; tasks.size() > all / 3; now += 20) {
    for (const int number : steal(now)) stolen.push_back(number);
  }
  EXPECT_FALSE(tasks.make_room());
  EXPECT_FALSE(tasks.full());
  for (int i = 0; i < static_cast<int>(stolen.size()); ++i) {
    EXPECT_EQ(stolen[static_cast<std::size_t>(i)], i);
  }
  numbered_slot newest;
  for (int i = static_cast<int>(all); i-- > static_cast<int>(stolen.size());) {
    ASSERT_TRUE(tasks.take_newest(newest));
    EXPECT_EQ(newest.number, i);
  }
  EXPECT_TRUE(tasks.empty());
}

TEST_F(Deque, AThiefThatAsksGetsHalfAfterTheNextPush) {
  for (int i = 0; i < 3; ++i) push(i);
  EXPECT_EQ(steal(1), std::vector<int>{});
  EXPECT_EQ(steal(2), std::vector<int>{});
  push(3);
  EXPECT_EQ(steal(3), (std::vector<int>{0, 1}));
  EXPECT_EQ(steal(4), std::vector<int>{});
}

TEST_F(Deque, AThiefThatAsksGetsHalfAfterTheNextPop) {
  for (int i = 0; i < 4; ++i) push(i);
  EXPECT_EQ(steal(1), std::vector<int>{});
  EXPECT_TRUE(pop());
  EXPECT_EQ(steal(2), (std::vector<int>{0, 1}));
  EXPECT_TRUE(pop());
  EXPECT_FALSE(pop());
}

TEST_F(Deque, TheOwnerTakesBackWhatItHasGranted) {
  for (int i = 0; i < 4; ++i) push(i);
  EXPECT_EQ(steal(1), std::vector<int>{});
  for (int i = 4; i-- > 0;) EXPECT_TRUE(pop()) << i;
  EXPECT_EQ(steal(2), std::vector<int>{});
  EXPECT_TRUE(tasks.empty());
}

TEST_F(Deque, AnOwnerThatHasNothingLeftGrantsItsNextTask) {
  push(0);
  EXPECT_EQ(steal(1), std::vector<int>{});
  EXPECT_TRUE(pop());
  push(1);
  EXPECT_TRUE(pop());  // the owner was faster
  push(2);
  push(3);
  EXPECT_EQ(steal(2), std::vector<int>{2});
  EXPECT_TRUE(pop());
  EXPECT_FALSE(pop());
  push(4);
  EXPECT_EQ(steal(3), std::vector<int>{});  // for one request it grants one task
}

TEST_F(Deque, AnOwnerDoesNotGrantItsNextTaskForEver) {
  push(0);
  EXPECT_EQ(steal(1), std::vector<int>{});
  for (int i = 1; i <= 1000; ++i) {
    EXPECT_TRUE(pop());
    push(i);
  }
  EXPECT_EQ(tasks.lowest_private(), tasks.head() - 1);
}

TEST_F(Deque, AThiefTakesWithoutAskingWhatTheOwnerHasGranted) {
  for (int i = 0; i < 4; ++i) push(i);
  tasks.grant();
  EXPECT_EQ(steal(1), (std::vector<int>{0, 1}));
  EXPECT_TRUE(pop());
  EXPECT_TRUE(pop());
  EXPECT_FALSE(pop());
}

TEST_F(Deque, AThiefWaitsForAnAnswerBeforeItInsists) {
  for (int i = 0; i < 4; ++i) push(i);
  EXPECT_EQ(steal(5), std::vector<int>{});
  EXPECT_EQ(steal(15), std::vector<int>{});
  EXPECT_EQ(steal(16), (std::vector<int>{0, 1}));
  EXPECT_EQ(steal(17), std::vector<int>{});  // a new request
  EXPECT_EQ(steal(27), std::vector<int>{});
  EXPECT_EQ(steal(28), std::vector<int>{2});
}

// The clocks of two thieves may differ, as the cycle counters of two sockets do.
TEST_F(Deque, ARequestFromTheFutureIsInsistedOn) {
  for (int i = 0; i < 4; ++i) push(i);
  EXPECT_EQ(steal(1'000'000), std::vector<int>{});
  EXPECT_EQ(steal(999'990), std::vector<int>{});  // within the patience
  EXPECT_EQ(steal(1), (std::vector<int>{0, 1}));
}

TEST_F(Deque, AThiefThatComesLateAsksFirst) {
  for (int i = 0; i < 4; ++i) push(i);
  EXPECT_EQ(steal(1000), std::vector<int>{});
  EXPECT_EQ(steal(1001), std::vector<int>{});
}

TEST_F(Deque, AThiefDoesNotFenceWhileTasksAreGranted) {
  for (int i = 0; i < 8; ++i) push(i);
  EXPECT_EQ(steal(1), std::vector<int>{});
  std::array<numbered_slot, 2> taken;
  EXPECT_TRUE(tasks.steal(taken.data(), 1, {100, 10}).fenced);  // it leaves three tasks granted
  for (int i = 0; i < 3; ++i) {
    const auto got = tasks.steal(taken.data(), 2, {1000, 10});
    EXPECT_FALSE(got.fenced);
    EXPECT_EQ(got.tasks, i == 0 ? 2U : i == 1 ? 1U : 0U);
  }
}

TEST_F(Deque, CountedTasksAreTakenWithoutAsking) {
  for (int i = 0; i < 4; ++i) push(i);
  tasks.publish();
  EXPECT_EQ(steal(1), (std::vector<int>{0, 1}));
}

}  // namespace
}  // namespace apgas::test
