// SPDX-License-Identifier: Apache-2.0
// The codes of the functions that spawn and wait for tasks: misuse, callbacks that throw, finishes
// that do not match.
#include <cmath>
#include <cstdint>
#include <limits>
#include <new>
#include <stdexcept>

#include <apgas/apgas.hpp>

#include "c_tasks.hpp"

namespace {

void throw_error(void*) { throw std::runtime_error("thrown by a callback"); }
void throw_no_memory(void*) { throw std::bad_alloc(); }

TEST(c_task_codes, outside_a_task) {
  int block = 0;
  EXPECT_EQ(apgas_spawn(do_nothing, &block, sizeof block), APGAS_ENOTASK);
  EXPECT_EQ(apgas_finish(do_nothing, nullptr), APGAS_ENOTASK);
  apgas_finish_t finish = nullptr;
  EXPECT_EQ(apgas_finish_begin(&finish), APGAS_ENOTASK);
  EXPECT_EQ(apgas_finish_end(reinterpret_cast<apgas_finish_t>(&block)), APGAS_ENOTASK);
  EXPECT_EQ(apgas_yield(), APGAS_ENOTASK);
  EXPECT_EQ(apgas_sleep(0.0), APGAS_ENOTASK);
  EXPECT_EQ(apgas_task_id(), 0U);
  EXPECT_EQ(apgas_task_pointer(), nullptr);
}

TEST(c_task_codes, impossible_arguments) {
  in_a_task([] {
    int block = 0;
    EXPECT_EQ(apgas_spawn(nullptr, &block, sizeof block), APGAS_EINVAL);
    EXPECT_EQ(apgas_spawn(do_nothing, nullptr, 1), APGAS_EINVAL);
    EXPECT_EQ(apgas_spawn(do_nothing, &block, APGAS_MAX_BLOCK + 1), APGAS_ETOOBIG);
    EXPECT_EQ(apgas_spawn(do_nothing, &block, SIZE_MAX), APGAS_ETOOBIG);
    EXPECT_EQ(apgas_finish(nullptr, nullptr), APGAS_EINVAL);
    EXPECT_EQ(apgas_finish_begin(nullptr), APGAS_EINVAL);
    EXPECT_EQ(apgas_finish_end(nullptr), APGAS_EINVAL);
    EXPECT_EQ(apgas_sleep(std::nan("")), APGAS_EINVAL);
    EXPECT_EQ(apgas_sleep(-1.0), 0);
  });
}

TEST(c_task_codes, inside_a_critical_section) {
  in_a_task([] {
    apgas::atomic([] {
      apgas_finish_t finish = nullptr;
      EXPECT_EQ(apgas_spawn(do_nothing, nullptr, 0), APGAS_ECRITICAL);
      EXPECT_EQ(apgas_finish(do_nothing, nullptr), APGAS_ECRITICAL);
      EXPECT_EQ(apgas_finish_begin(&finish), APGAS_ECRITICAL);
      EXPECT_EQ(apgas_yield(), APGAS_ECRITICAL);
      EXPECT_EQ(apgas_sleep(0.0), APGAS_ECRITICAL);
      EXPECT_EQ(apgas_task_id(), 0U);
      EXPECT_EQ(apgas_task_pointer(), nullptr);
      EXPECT_EQ(apgas_here(), 0);
    });
  });
}

TEST(c_task_codes, a_callback_that_throws) {
  in_a_task([] {
    EXPECT_EQ(apgas_finish(throw_error, nullptr), APGAS_EEXCEPTION);
    EXPECT_EQ(apgas_finish(throw_no_memory, nullptr), APGAS_ENOMEM);
    EXPECT_EQ(finish_closure([] { apgas_spawn(throw_error, nullptr, 0); }), APGAS_EEXCEPTION);
    EXPECT_EQ(finish_closure([] {
                apgas_spawn(throw_no_memory, nullptr, 0);
                throw_no_memory(nullptr);
              }),
              APGAS_ENOMEM);
    EXPECT_EQ(finish_closure([] {
                apgas_spawn(throw_no_memory, nullptr, 0);
                throw_error(nullptr);
              }),
              APGAS_EEXCEPTION);
    apgas_finish_t finish = nullptr;
    ASSERT_EQ(apgas_finish_begin(&finish), 0);
    const char large[100] = {};
    EXPECT_EQ(apgas_spawn(throw_error, large, sizeof large), 0);
    EXPECT_EQ(apgas_finish_end(finish), APGAS_EEXCEPTION);
  });
}

TEST(c_task_codes, the_function_of_run_that_throws) {
  ASSERT_EQ(apgas_start(nullptr), 0);
  EXPECT_EQ(apgas_run(throw_error, nullptr), APGAS_EEXCEPTION);
  EXPECT_EQ(apgas_run(throw_no_memory, nullptr), APGAS_ENOMEM);
  EXPECT_EQ(apgas_run([](void*) { apgas_spawn(throw_error, nullptr, 0); }, nullptr),
            APGAS_EEXCEPTION);
  EXPECT_EQ(apgas_run(do_nothing, nullptr), 0);
  EXPECT_EQ(apgas_stop(), 0);
}

TEST(c_task_codes, finishes_end_in_reverse_order) {
  in_a_task([] {
    apgas_finish_t outer = nullptr;
    apgas_finish_t inner = nullptr;
    ASSERT_EQ(apgas_finish_begin(&outer), 0);
    ASSERT_EQ(apgas_finish_begin(&inner), 0);
    EXPECT_EQ(apgas_finish_end(outer), APGAS_EFINISH);
    EXPECT_EQ(apgas_finish_end(inner), 0);
    EXPECT_EQ(apgas_finish_end(inner), APGAS_EFINISH);
    EXPECT_EQ(apgas_finish_end(outer), 0);
    EXPECT_EQ(apgas_finish_end(outer), APGAS_EFINISH);
  });
}

TEST(c_task_codes, only_the_task_that_began_a_finish_ends_it) {
  in_a_task([] {
    apgas_finish_t finish = nullptr;
    ASSERT_EQ(apgas_finish_begin(&finish), 0);
    const auto end_it = [finish] { EXPECT_EQ(apgas_finish_end(finish), APGAS_EFINISH); };
    EXPECT_EQ(spawn_closure(end_it), 0);
    EXPECT_EQ(finish_closure(end_it), 0);
    EXPECT_EQ(apgas_finish_end(finish), 0);
  });
}

TEST(c_task_codes, a_callback_that_leaves_a_finish_open) {
  in_a_task([] {
    int done = 0;
    const auto leave_open = [to = &done] {
      apgas_finish_t lost = nullptr;
      EXPECT_EQ(apgas_finish_begin(&lost), 0);
      EXPECT_EQ(apgas_finish_begin(&lost), 0);
      EXPECT_EQ(spawn_closure([to] {
                  EXPECT_EQ(apgas_sleep(0.001), 0);
                  ++*to;
                }),
                0);
    };
    EXPECT_EQ(finish_closure(leave_open), APGAS_EFINISH);
    EXPECT_EQ(done, 1);
    EXPECT_EQ(finish_closure([&] { spawn_closure(leave_open); }), APGAS_EFINISH);
    EXPECT_EQ(done, 2);
    EXPECT_EQ(finish_closure([] {
                apgas_finish_t lost = nullptr;
                EXPECT_EQ(apgas_finish_begin(&lost), 0);
                apgas_spawn(throw_error, nullptr, 0);
              }),
              APGAS_EEXCEPTION);
  });
}

TEST(c_task_codes_death, a_cpp_task_that_leaves_a_finish_open) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(in_a_task([] {
                 apgas::finish([] {
                   apgas::async([] {
                     apgas_finish_t lost = nullptr;
                     apgas_finish_begin(&lost);
                   });
                 });
               }),
               "call apgas_finish_end");
}

TEST(c_task_codes, yields_are_fair) {
  in_a_task(
      [] {
        bool ready = false;
        EXPECT_EQ(finish_closure([&] {
                    EXPECT_EQ(spawn_closure([to = &ready] { *to = true; }), 0);
                    while (!ready) ASSERT_EQ(apgas_yield(), 0);
                  }),
                  0);
        EXPECT_TRUE(ready);
      },
      1);
}

}  // namespace
