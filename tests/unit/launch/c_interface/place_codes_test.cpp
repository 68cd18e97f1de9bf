// SPDX-License-Identifier: Apache-2.0
// The codes of calls at other places, and how functions are named there.
#include <array>
#include <cstdint>
#include <new>
#include <stdexcept>

#include <apgas/apgas.hpp>

#include "c_tasks.hpp"
#include "functions.hpp"

namespace {

void nothing(const void*, std::size_t) {}
void nothing_at(const void*, std::size_t, void*, std::size_t) {}
void throw_error(const void*, std::size_t) { throw std::runtime_error("thrown by a callback"); }
void throw_no_memory_at(const void*, std::size_t, void* result, std::size_t) {
  *static_cast<char*>(result) = 'x';
  throw std::bad_alloc();
}
void leave_finish_open(const void*, std::size_t, void*, std::size_t) {
  apgas_finish_t lost = nullptr;
  EXPECT_EQ(apgas_finish_begin(&lost), 0);
}

TEST(c_place_codes, outside_a_task) {
  EXPECT_EQ(apgas_async_at(0, nothing, nullptr, 0), APGAS_ENOTASK);
  EXPECT_EQ(apgas_at(0, nothing_at, nullptr, 0, nullptr, 0), APGAS_ENOTASK);
}

TEST(c_place_codes, impossible_arguments) {
  in_a_task(
      [] {
        char block = 0;
        EXPECT_EQ(apgas_async_at(0, nullptr, nullptr, 0), APGAS_EINVAL);
        EXPECT_EQ(apgas_async_at(0, nothing, nullptr, 1), APGAS_EINVAL);
        EXPECT_EQ(apgas_async_at(0, nothing, &block, APGAS_MAX_BLOCK + 1), APGAS_ETOOBIG);
        EXPECT_EQ(apgas_at(0, nullptr, nullptr, 0, nullptr, 0), APGAS_EINVAL);
        EXPECT_EQ(apgas_at(0, nothing_at, nullptr, 1, nullptr, 0), APGAS_EINVAL);
        EXPECT_EQ(apgas_at(0, nothing_at, nullptr, 0, nullptr, 1), APGAS_EINVAL);
        EXPECT_EQ(apgas_at(0, nothing_at, &block, SIZE_MAX, nullptr, 0), APGAS_ETOOBIG);
        EXPECT_EQ(apgas_at(0, nothing_at, nullptr, 0, &block, SIZE_MAX), APGAS_ETOOBIG);
        for (const int none : {-1, 2, INT32_MAX, INT32_MIN}) {
          EXPECT_EQ(apgas_async_at(none, nothing, nullptr, 0), APGAS_EPLACE);
          EXPECT_EQ(apgas_at(none, nothing_at, nullptr, 0, nullptr, 0), APGAS_EPLACE);
        }
        apgas::atomic([] {
          EXPECT_EQ(apgas_async_at(0, nothing, nullptr, 0), APGAS_ECRITICAL);
          EXPECT_EQ(apgas_at(0, nothing_at, nullptr, 0, nullptr, 0), APGAS_ECRITICAL);
        });
      },
      1, 2);
}

TEST(c_place_codes, a_callback_that_throws) {
  in_a_task(
      [] {
        for (int place = 0; place < 2; ++place) {
          EXPECT_EQ(finish_closure(
                        [place] { EXPECT_EQ(apgas_async_at(place, throw_error, nullptr, 0), 0); }),
                    APGAS_EEXCEPTION);
          char result = 'a';
          EXPECT_EQ(apgas_at(place, throw_no_memory_at, nullptr, 0, &result, 1), APGAS_ENOMEM);
          EXPECT_EQ(result, 'a');
          EXPECT_EQ(apgas_at(place, leave_finish_open, nullptr, 0, nullptr, 0), APGAS_EFINISH);
        }
      },
      1, 2);
}

TEST(c_place_codes, a_call_at_the_own_place_has_a_pointer_of_its_own) {
  in_a_task([] {
    int mine = 0;
    *apgas_task_pointer() = &mine;
    const auto set = [](const void*, std::size_t, void*, std::size_t) {
      EXPECT_EQ(*apgas_task_pointer(), nullptr);
      *apgas_task_pointer() = apgas_task_pointer();
    };
    EXPECT_EQ(apgas_at(0, set, nullptr, 0, nullptr, 0), 0);
    EXPECT_EQ(*apgas_task_pointer(), &mine);
  });
}

TEST(c_place_codes, functions_are_found_by_their_names) {
  namespace launch = apgas::launch;
  const auto function = reinterpret_cast<launch::any_function>(&nothing);
  const auto name = launch::find_name(function);
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(launch::find_function(*name), function);
  launch::sent_function other = *name;
  other.object ^= 1;
  EXPECT_EQ(launch::find_function(other), nullptr);
  other = *name;
  other.offset = UINT64_MAX / 2;
  EXPECT_EQ(launch::find_function(other), nullptr);
  static int data;
  std::array<char, 16> memory{};
  EXPECT_FALSE(launch::find_name(reinterpret_cast<launch::any_function>(&data)).has_value());
  EXPECT_FALSE(
      launch::find_name(reinterpret_cast<launch::any_function>(memory.data())).has_value());
}

}  // namespace
