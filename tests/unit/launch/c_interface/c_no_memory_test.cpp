// SPDX-License-Identifier: Apache-2.0
// Functions of the C interface that find no memory: the test refuses it once, to its own worker.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "c_tasks.hpp"

namespace {

std::atomic<bool> refuse_next{false};

void* memory_or_null(std::size_t bytes) noexcept {
  return refuse_next.exchange(false) ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}

}  // namespace

void* operator new(std::size_t bytes) {
  void* const memory = memory_or_null(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return memory_or_null(bytes);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

// Calls f() while the next allocation fails.
template <class F>
auto without_memory(F f) {
  refuse_next = true;
  const auto result = f();
  EXPECT_FALSE(refuse_next.exchange(false)) << "nothing was allocated";
  return result;
}

TEST(c_no_memory, for_a_start) {
  EXPECT_EQ(without_memory([] { return apgas_start(nullptr); }), APGAS_ENOMEM);
  EXPECT_EQ(apgas_stop(), APGAS_ENOTSTARTED);
}

TEST(c_no_memory, for_a_task) {
  in_a_task(
      [] {
        const std::array<char, 1000> block{};
        EXPECT_EQ(
            without_memory([&] { return apgas_spawn(do_nothing, block.data(), block.size()); }),
            APGAS_ENOMEM);
        EXPECT_EQ(without_memory([] { return apgas_task_id(); }), 0U);
        EXPECT_EQ(without_memory([] { return apgas_task_pointer(); }), nullptr);
        apgas_finish_t finish = nullptr;
        EXPECT_EQ(without_memory([&] { return apgas_finish_begin(&finish); }), APGAS_ENOMEM);
        EXPECT_EQ(apgas_finish_begin(&finish), 0);
        EXPECT_EQ(apgas_finish_end(finish), 0);
      },
      1);
}

TEST(c_no_memory, for_a_call) {
  in_a_task(
      [] {
        const auto nothing = [](const void*, std::size_t, void*, std::size_t) {};
        const std::array<char, 1000> block{};
        EXPECT_EQ(without_memory(
                      [&] { return apgas_at(0, nothing, block.data(), block.size(), nullptr, 0); }),
                  APGAS_ENOMEM);
      },
      1);
}

TEST(c_no_memory, for_objects) {
  apgas_sync_t sync = nullptr;
  EXPECT_EQ(without_memory([&] { return apgas_sync_create(&sync); }), APGAS_ENOMEM);
  apgas_mutex_t mutex = nullptr;
  EXPECT_EQ(without_memory([&] { return apgas_mutex_create(&mutex); }), APGAS_ENOMEM);
  apgas_cond_t cond = nullptr;
  EXPECT_EQ(without_memory([&] { return apgas_cond_create(&cond); }), APGAS_ENOMEM);
}

}  // namespace
