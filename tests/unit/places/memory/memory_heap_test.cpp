// SPDX-License-Identifier: Apache-2.0
// The heap from which allocate() takes memory: allocations do not overlap and are zeroed, memory is
// used again, and an earlier name does not find a later allocation. APGAS_TEST_SEED=n repeats the
// random test.
#include <apgas/places/memory_heap.hpp>

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/base/random.hpp>

#include "support/random_seed.hpp"

namespace {

using apgas::base::random_engine;
using namespace apgas::remote;

std::byte* bytes_of_allocation(const memory_heap& heap, const allocation_name& b) {
  return heap.segment(b.segment)->memory().data() + std::size_t{b.allocation} * allocation_unit;
}
access_failure look(const memory_heap& heap, const allocation_range& range) {
  const auto memory = heap.segment(range.allocation.segment)->memory();
  return check_access(memory.data(), memory.size(), range);
}

TEST(memory_heap, returns_zeroed_allocations_of_the_requested_length) {
  memory_heap heap(3, nullptr);
  for (const std::uint64_t bytes : {0UL, 1UL, 64UL, 65UL, 524'224UL, 524'225UL, 9'000'000UL}) {
    const allocation_name b = heap.allocate(bytes);
    EXPECT_EQ(b.home, 3);
    EXPECT_NE(b.generation, 0U);
    std::byte* const first = bytes_of_allocation(heap, b);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 64, 0U);
    EXPECT_TRUE(std::all_of(first, first + bytes, [](std::byte x) { return x == std::byte{}; }));
    EXPECT_FALSE(look(heap, {b, 0, bytes}));
    EXPECT_FALSE(look(heap, {b, bytes, 0}));
    for (const allocation_range& out :
         {allocation_range{b, 0, bytes + 1}, allocation_range{b, bytes + 1, 0},
          allocation_range{b, UINT64_MAX, 1}, allocation_range{b, 1, UINT64_MAX}}) {
      EXPECT_EQ(look(heap, out).fault, access_fault::out_of_range);
      EXPECT_EQ(look(heap, out).bytes, bytes);
    }
    EXPECT_FALSE(heap.release(b));
  }
}

TEST(memory_heap, uses_memory_again_under_another_name) {
  memory_heap heap(0, nullptr);
  for (const std::uint64_t bytes : {100UL, 3'000'000UL}) {
    const allocation_name first = heap.allocate(bytes);
    std::memset(bytes_of_allocation(heap, first), 0xff, bytes);
    EXPECT_FALSE(heap.release(first));
    EXPECT_EQ(look(heap, {first, 0, 1}).fault, access_fault::stale);
    EXPECT_EQ(heap.release(first).fault, access_fault::stale);
    const allocation_name second = heap.allocate(bytes - 30);
    EXPECT_EQ(second.segment, first.segment);
    EXPECT_EQ(second.allocation, first.allocation);
    EXPECT_NE(second.generation, first.generation);
    EXPECT_EQ(bytes_of_allocation(heap, second)[bytes - 31], std::byte{});
    EXPECT_EQ(look(heap, {first, 0, 1}).fault, access_fault::stale);
    EXPECT_FALSE(look(heap, {second, 0, bytes - 30}));
  }
}

TEST(memory_heap, keeps_large_memory_for_requests_of_similar_size) {
  memory_heap heap(0, nullptr);
  const allocation_name first = heap.allocate(8'000'000);
  EXPECT_FALSE(heap.release(first));
  EXPECT_NE(heap.allocate(1'000'000).segment, first.segment);
  EXPECT_NE(heap.allocate(9'000'000).segment, first.segment);
  EXPECT_EQ(heap.allocate(5'000'000).segment, first.segment);
}

TEST(memory_heap, rejects_invalid_names) {
  memory_heap heap(0, nullptr);
  const allocation_name b = heap.allocate(10);
  EXPECT_EQ(heap.segment(b.segment + 1), nullptr);
  EXPECT_EQ(heap.release({.segment = b.segment + 1, .allocation = 1, .generation = 1}).fault,
            access_fault::no_allocation);
  EXPECT_EQ(heap.release({.allocation = 0, .generation = 1}).fault, access_fault::no_allocation);
  EXPECT_EQ(heap.release({.allocation = 1U << 30, .generation = 1}).fault,
            access_fault::no_allocation);
  EXPECT_EQ(heap.release({.allocation = b.allocation}).fault, access_fault::stale);
  EXPECT_THROW(static_cast<void>(heap.allocate(memory_heap::most_bytes + 1)), std::bad_alloc);
}

struct filled {
  allocation_name name;
  std::size_t bytes;
  std::byte value;
};

bool intact(const memory_heap& heap, const filled& f) {
  const std::byte* const first = bytes_of_allocation(heap, f.name);
  return std::all_of(first, first + f.bytes, [&](std::byte x) { return x == f.value; });
}

TEST(memory_heap, never_hands_out_a_byte_twice) {
  const std::uint32_t seed = apgas::test::random_seed();
  SCOPED_TRACE(apgas::test::how_to_repeat(seed));
  random_engine random(seed);
  memory_heap heap(0, nullptr);
  std::vector<filled> live;
  for (int i = 0; i < 5000; ++i) {
    if (live.size() > 100 || (!live.empty() && random.below(2) == 0)) {
      std::swap(live[random.below(static_cast<std::uint32_t>(live.size()))], live.back());
      ASSERT_TRUE(intact(heap, live.back()));
      ASSERT_FALSE(heap.release(live.back().name));
      live.pop_back();
      continue;
    }
    const std::size_t bytes = random.below(random.below(50) == 0 ? 1'000'000 : 5000);
    const filled f{heap.allocate(bytes), bytes, static_cast<std::byte>(random.below(256))};
    std::memset(bytes_of_allocation(heap, f.name), static_cast<int>(f.value), bytes);
    live.push_back(f);
  }
  for (const filled& f : live) EXPECT_TRUE(intact(heap, f));
}

}  // namespace
