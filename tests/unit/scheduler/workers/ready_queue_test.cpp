// SPDX-License-Identifier: Apache-2.0
// The queue of the blocks that a worker is to pass on to others.
#include <apgas/scheduler/ready_queue.hpp>

#include <gtest/gtest.h>

namespace {

using apgas::scheduler::batch_block;
using apgas::scheduler::ready_queue;

class PassedOn : public testing::Test {
 protected:
  PassedOn() { a_.next = &b_; }

  ready_queue queue_;
  batch_block a_{};
  batch_block b_{};
  batch_block c_{};
};

TEST_F(PassedOn, AllAreTakenTogetherInTheirOrder) {
  EXPECT_TRUE(queue_.empty());
  queue_.push_to_pass_on(&a_);
  queue_.push_to_pass_on(&c_);  // of another leaf
  EXPECT_TRUE(queue_.passes_on());
  EXPECT_FALSE(queue_.empty());
  EXPECT_EQ(queue_.blocks(), 3U);
  EXPECT_EQ(queue_.take_to_pass_on(), &a_);
  EXPECT_EQ(a_.next, &b_);
  EXPECT_EQ(b_.next, &c_);
  EXPECT_EQ(c_.next, nullptr);
  EXPECT_FALSE(queue_.passes_on());
  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(queue_.take_to_pass_on(), nullptr);
}

TEST_F(PassedOn, ThievesTakeThemOneByOneAfterTheWorkersOwn) {
  queue_.push_to_pass_on(&a_);
  queue_.push(&c_, &c_, 1);
  EXPECT_EQ(queue_.pop_any().many, &c_);
  EXPECT_EQ(queue_.pop_any().many, &a_);
  EXPECT_EQ(a_.next, nullptr);
  EXPECT_TRUE(queue_.passes_on());
  EXPECT_EQ(queue_.take_first_block(), &b_);
  EXPECT_FALSE(queue_.passes_on());
  EXPECT_EQ(queue_.pop_any().many, nullptr);
}

}  // namespace
