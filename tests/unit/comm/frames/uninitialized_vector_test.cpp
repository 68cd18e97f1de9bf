// SPDX-License-Identifier: Apache-2.0
#include <apgas/uninitialized_vector.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/comm/buffer.hpp>

#include "block_cache.hpp"

namespace {

using apgas::uninitialized_allocator;
using apgas::uninitialized_vector;

constexpr std::size_t many = 100'000;

// Takes out of the cache what other tests have left there.
std::vector<apgas::comm::buffer> make_room() {
  std::vector<apgas::comm::buffer> held;
  for (int i = 0; i < 32; ++i) held.emplace_back(std::size_t{1} << 20);
  return held;
}

TEST(uninitialized_vector, holds_what_is_assigned) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, many}) {
    uninitialized_vector<int> v(size);
    std::iota(v.begin(), v.end(), 0);
    const uninitialized_vector<int> copy = v;
    v.resize(size + 1);
    v.back() = static_cast<int>(size);
    EXPECT_EQ(v.size(), size + 1);
    EXPECT_TRUE(std::equal(copy.begin(), copy.end(), v.begin()));
    EXPECT_TRUE(std::ranges::equal(uninitialized_vector<int>(size, 7), std::vector<int>(size, 7)));
  }
}

TEST(uninitialized_vector, takes_recycled_memory_as_it_is) {
  const auto room = make_room();
  const int* where = nullptr;
  {
    const uninitialized_vector<int> v(many, 42);
    where = v.data();
  }
  const uninitialized_vector<int> again(many);
  ASSERT_EQ(again.data(), where);
  EXPECT_EQ(again[many / 2], 42);  // of the first vector; zeroing would have overwritten it
  EXPECT_EQ(again.back(), 42);
}

TEST(uninitialized_vector, returns_only_large_memory_to_the_cache) {
  const auto room = make_room();
  const std::size_t before = apgas::comm::bytes_kept();
  const auto kept_after = [&](std::size_t bytes) {
    {
      const uninitialized_vector<char> v(bytes);
    }
    return apgas::comm::bytes_kept() - before;
  };
  EXPECT_EQ(kept_after(1), 0U);
  EXPECT_EQ(kept_after((16 << 10) - 1), 0U);
  EXPECT_GE(kept_after(3 << 20), std::size_t{3} << 20);
  EXPECT_LE(kept_after(9 << 20), std::size_t{4} << 20);
}

TEST(uninitialized_vector, constructs_elements_of_class_types) {
  uninitialized_vector<std::string> names(3);
  names.resize(many);
  EXPECT_EQ(std::ranges::count(names, std::string()), static_cast<std::ptrdiff_t>(many));
  names.emplace_back(3, 'x');
  EXPECT_EQ(names.back(), "xxx");
}

struct alignas(256) wide {
  std::uint8_t value;
};

TEST(uninitialized_vector, aligns_its_elements) {
  for (const std::size_t size : {std::size_t{1}, many / 100}) {
    const uninitialized_vector<wide> v(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(v.data()) % 256, 0U);
    const uninitialized_vector<double> d(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(d.data()) % alignof(double), 0U);
  }
}

TEST(uninitialized_vector, moves_between_vectors_of_equal_allocators) {
  uninitialized_vector<int> from(many, 3);
  const int* const where = from.data();
  uninitialized_vector<int> to;
  to = std::move(from);
  EXPECT_EQ(to.data(), where);
  EXPECT_TRUE(uninitialized_allocator<int>() == uninitialized_allocator<char>());
}

TEST(uninitialized_vector, refuses_a_size_that_overflows) {
  uninitialized_allocator<std::uint64_t> a;
  EXPECT_THROW(static_cast<void>(a.allocate(std::numeric_limits<std::size_t>::max() / 4)),
               std::bad_array_new_length);
}

}  // namespace
