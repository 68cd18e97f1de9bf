// SPDX-License-Identifier: Apache-2.0
// The arithmetic of distributed arrays, for all small sizes.
#include <apgas/places/dist_shape.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/places/grid_portion.hpp>

namespace {

using apgas::distribution;
using apgas::remote::dist_shape;
using apgas::remote::grid_shape;
using apgas::remote::place_grid;

std::vector<distribution> divided() {
  return {distribution::block(), distribution::cyclic(), distribution::block_cyclic(2),
          distribution::block_cyclic(5), distribution::block_cyclic(100)};
}

// D1: each element has one position, each position has one element, and indices rise within a
// portion.
TEST(dist_shape, positions_are_one_to_one) {
  for (const distribution d : divided()) {
    for (std::size_t portions = 1; portions <= 7; ++portions) {
      for (std::size_t size = 0; size <= 40; ++size) {
        const dist_shape s(size, d, portions);
        std::size_t all = 0;
        for (std::size_t p = 0; p < portions; ++p) {
          all += s.size_of(p);
          for (std::size_t k = 0; k < s.size_of(p); ++k) {
            const std::size_t i = s.index_of(p, k);
            ASSERT_LT(i, size);
            ASSERT_EQ(std::pair(s.portion_of(i), s.offset_of(i)), std::pair(p, k));
            ASSERT_TRUE(k == 0 || s.index_of(p, k - 1) < i);
          }
        }
        ASSERT_EQ(all, size);
      }
    }
  }
}

TEST(dist_shape, blocks_are_consecutive_and_even) {
  for (std::size_t portions = 1; portions <= 7; ++portions) {
    for (std::size_t size = 0; size <= 40; ++size) {
      const dist_shape s(size, distribution::block(), portions);
      std::size_t next = 0;
      for (std::size_t p = 0; p < portions; ++p) {
        ASSERT_EQ(s.first_of(p), next);
        next += s.size_of(p);
        ASSERT_LE(s.size_of(p), (size + portions - 1) / portions);
        ASSERT_GE(s.size_of(p), size / portions);
      }
    }
  }
}

TEST(dist_shape, counts_the_elements_before_an_index) {
  for (const distribution d : divided()) {
    for (std::size_t portions = 1; portions <= 5; ++portions) {
      for (std::size_t size = 0; size <= 30; ++size) {
        const dist_shape s(size, d, portions);
        std::vector<std::size_t> before(portions);
        for (std::size_t i = 0; i <= size; ++i) {
          for (std::size_t p = 0; p < portions; ++p) ASSERT_EQ(s.size_before(p, i), before[p]);
          if (i < size) ++before[s.portion_of(i)];
        }
      }
    }
  }
}

// D2
TEST(dist_shape, portions_consist_of_runs_in_turn) {
  for (const distribution d : divided()) {
    for (std::size_t portions = 1; portions <= 5; ++portions) {
      for (std::size_t size = 0; size <= 30; ++size) {
        const dist_shape s(size, d, portions);
        std::size_t next = 0;
        for (std::size_t run = 0; run < s.runs(); ++run) {
          const std::size_t p = run % portions;
          const std::size_t begin = run / portions * s.run_size(p);
          const std::size_t end = std::min(begin + s.run_size(p), s.size_of(p));
          ASSERT_LT(begin, end);
          for (std::size_t k = begin; k < end; ++k) ASSERT_EQ(s.index_of(p, k), next++);
        }
        ASSERT_EQ(next, size);
      }
    }
  }
  const dist_shape copies(10, distribution::replicated(), 3);
  EXPECT_EQ(copies.runs(), 1U);
  EXPECT_EQ(copies.run_size(2), 10U);
}

TEST(dist_shape, replicated_arrays_are_complete_in_each_portion) {
  const dist_shape s(10, distribution::replicated(), 3);
  for (std::size_t p = 0; p < 3; ++p) {
    EXPECT_EQ(s.size_of(p), 10U);
    EXPECT_EQ(s.index_of(p, 7), 7U);
  }
  EXPECT_EQ(s.offset_of(7), 7U);
}

TEST(dist_shape, handles_sizes_near_the_end_of_the_range) {
  constexpr std::size_t most = std::size_t{1} << 62;
  for (const distribution d : divided()) {
    const dist_shape s(most, d, 3);
    std::size_t all = 0;
    for (std::size_t p = 0; p < 3; ++p) {
      all += s.size_of(p);
      const std::size_t k = s.size_of(p) - 1;
      EXPECT_EQ(s.portion_of(s.index_of(p, k)), p);
      EXPECT_EQ(s.offset_of(s.index_of(p, k)), k);
    }
    EXPECT_EQ(all, most);
  }
}

TEST(place_grid, is_as_square_as_the_number_allows) {
  const auto of = [](std::size_t n) {
    const place_grid g = place_grid::of(n);
    return std::pair(g.rows, g.columns);
  };
  EXPECT_EQ(of(1), std::pair(1UL, 1UL));
  EXPECT_EQ(of(2), std::pair(1UL, 2UL));
  EXPECT_EQ(of(4), std::pair(2UL, 2UL));
  EXPECT_EQ(of(7), std::pair(1UL, 7UL));
  EXPECT_EQ(of(12), std::pair(3UL, 4UL));
  EXPECT_EQ(of(100'000), std::pair(250UL, 400UL));
}

TEST(grid_shape, every_portion_has_a_block) {
  const grid_shape s(10, 9, 6);  // 2 rows and 3 columns of places
  EXPECT_EQ(s.portion_of(0, 0), 0U);
  EXPECT_EQ(s.portion_of(4, 8), 2U);
  EXPECT_EQ(s.portion_of(5, 0), 3U);
  EXPECT_EQ(s.portion_of(9, 8), 5U);
}

}  // namespace
