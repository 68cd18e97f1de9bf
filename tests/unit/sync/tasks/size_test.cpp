// SPDX-License-Identifier: Apache-2.0

// The sizes that performance depends on: what a spawn writes, what lies on the stack for every
// finish and join, what every remote task sends, and what every suspended task keeps. Changing one
// of them is a design decision.

#include <cstdint>

#include <gtest/gtest.h>

#include <apgas/comm/message.hpp>
#include <apgas/scheduler/worker.hpp>
#include <apgas/sync/branch.hpp>
#include <apgas/sync/finish_core.hpp>
#include <apgas/sync/future_core.hpp>
#include <apgas/sync/remote_task.hpp>
#include <apgas/sync/task.hpp>

namespace {

namespace scheduler = apgas::scheduler;
namespace sync = apgas::sync;
namespace comm = apgas::comm;

constexpr std::size_t line = apgas::base::cache_line_bytes;

TEST(size, a_slot_is_one_cache_line) {
  EXPECT_EQ(sizeof(scheduler::slot), line);
  EXPECT_EQ(alignof(scheduler::slot), line);
  EXPECT_EQ(scheduler::slot::closure_bytes, 40U);
}

TEST(size, five_words_fit_a_slot_and_six_do_not) {
  struct five {
    std::uint64_t words[5];
    void operator()() const {}
  };
  struct six {
    std::uint64_t words[6];
    void operator()() const {}
  };
  EXPECT_TRUE(scheduler::fits_slot<five>);
  EXPECT_FALSE(scheduler::fits_slot<six>);
  EXPECT_TRUE(scheduler::fits_slot<scheduler::boxed<six>>);
}

TEST(size, a_fiber_record_leaves_the_stack_its_page) {
  EXPECT_LE(sizeof(scheduler::fiber), scheduler::fiber_record_bytes);
  EXPECT_EQ(scheduler::fiber_record_bytes % line, 0U);
  EXPECT_LE(scheduler::fiber_record_bytes, 256U);
}

TEST(size, a_counter_is_two_words) { EXPECT_EQ(sizeof(scheduler::task_counter), 16U); }

TEST(size, the_frame_of_a_finish_fits_a_cache_line) {
  EXPECT_EQ(sizeof(sync::finish_core), 24U);
  EXPECT_LE(sizeof(sync::finish_frame), line);
}

TEST(size, the_join_of_a_branch_with_one_word_fits_a_cache_line) {
  EXPECT_LE(sizeof(sync::branch_join<std::int64_t>), line);
}

TEST(size, the_owner_of_a_deque_touches_one_line_to_push_and_pop) {
  EXPECT_EQ(sizeof(scheduler::deque<scheduler::slot>), 2 * line);
  EXPECT_EQ(alignof(scheduler::deque<scheduler::slot>), line);
}

TEST(size, a_frame_header_is_half_a_cache_line) {
  EXPECT_EQ(sizeof(comm::frame_header), 32U);
  // The spawn site and 8 bytes of argument.
  EXPECT_EQ(comm::frame_bytes(16), 48U);
}

TEST(size, a_waiting_remote_task_is_small) { EXPECT_LE(sizeof(sync::remote_task), 2 * line); }

}  // namespace
