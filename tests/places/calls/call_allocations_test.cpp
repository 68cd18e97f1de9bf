// SPDX-License-Identifier: Apache-2.0
// The allocations of at, async_at and finish in steady state, by the workers of both places.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <gtest/gtest.h>

#include "check.hpp"

// The allocation functions of the program, which all libraries use as well, count and call those of
// glibc.
namespace {
thread_local std::uint64_t allocations = 0;
}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): these are the names of glibc
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);

void* malloc(std::size_t bytes) noexcept {
  ++allocations;
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) noexcept {
  ++allocations;
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) noexcept {
  ++allocations;
  return __libc_realloc(memory, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  ++allocations;
  return __libc_memalign(alignment, bytes);
}
}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)

namespace {

using apgas::at;
using apgas::place;

struct counts {
  std::uint64_t here = 0;   // by the worker of place 0
  std::uint64_t there = 0;  // by the worker of the last place
};

counts total() {
  return {allocations, at(test::last(), [] { return allocations; })};
}

constexpr int hundred = 100;
constexpr int rounds = 30;

// The allocations while f runs a hundred times, in steady state: the fewest of several rounds,
// because pools still grow in some of them.
template <class F>
counts allocations_of(F f) {
  counts fewest{UINT64_MAX, UINT64_MAX};
  for (int round = 0; round < rounds; ++round) {
    const counts before = total();
    for (int i = 0; i < hundred; ++i) f();
    const counts after = total();
    fewest.here = std::min(fewest.here, after.here - before.here);
    fewest.there = std::min(fewest.there, after.there - before.there);
  }
  return fewest;
}

std::uint64_t call(std::uint64_t value) {
  return at(test::last(), [](std::uint64_t v) { return v; }, value);
}

std::atomic<int> tasks_run{0};  // by both places, which are in one process

void spawn_one() {
  apgas::async_at(test::last(), [](std::uint64_t) { ++tasks_run; }, std::uint64_t{1});
}

TEST(call_allocations, allocations_are_counted) {
  const counts made = allocations_of([] {
    ::operator delete(::operator new(1));
    at(test::last(), [] { ::operator delete(::operator new(1)); });
  });
  EXPECT_EQ(made.here, std::uint64_t{hundred});
  EXPECT_EQ(made.there, std::uint64_t{hundred});
}

TEST(call_allocations, at_allocates_nothing) {
  const counts made = allocations_of([] { EXPECT_EQ(call(7), 7U); });
  EXPECT_EQ(made.here, 0U);
  EXPECT_EQ(made.there, 0U);
}

// Each task is alone in its message.
TEST(call_allocations, async_at_allocates_nothing) {
  apgas::finish([] {
    tasks_run = 0;
    const counts made = allocations_of([spawned = 0]() mutable {
      spawn_one();
      ++spawned;
      while (tasks_run < spawned) apgas::yield();
    });
    EXPECT_EQ(made.here, 0U);
    EXPECT_EQ(made.there, 0U);
  });
}

// The home allocates the state of a finish that leaves the place.
TEST(call_allocations, finish_over_a_remote_task_allocates_once_at_home) {
  const counts made = allocations_of([] { apgas::finish(spawn_one); });
  EXPECT_EQ(made.here, std::uint64_t{hundred});
  EXPECT_EQ(made.there, 0U);
}

// A batch of tasks allocates once at the target, and two tasks are a batch.
TEST(call_allocations, a_batch_of_tasks_allocates_at_most_once) {
  const counts made = allocations_of([] {
    apgas::finish([] {
      for (int i = 0; i < 64; ++i) spawn_one();
    });
  });
  EXPECT_EQ(made.here, std::uint64_t{hundred});
  EXPECT_LE(made.there, std::uint64_t{hundred} * 32);
}

}  // namespace
