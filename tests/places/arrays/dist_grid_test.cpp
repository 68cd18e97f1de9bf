// SPDX-License-Identifier: Apache-2.0
// dist_grid: blocks of rows and columns, their halos, and stencils compared with sequential ones.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/base/random.hpp>

#include "check.hpp"

namespace {

using apgas::dist_grid;
using apgas::place;
using test::check;

static_assert(std::is_trivially_copyable_v<dist_grid<double>> && sizeof(dist_grid<int>) == 16);

long value_at(std::size_t r, std::size_t c) { return static_cast<long>(1000 * r + c); }

TEST(dist_grid, has_each_element_at_one_place) {
  const std::size_t rows = 11;
  const std::size_t columns = 17;
  const dist_grid<long> g(rows, columns);
  forall(g, [](std::size_t r, std::size_t c, long& x) { x += value_at(r, c); });
  const std::vector<long> all = g.gather();
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      ASSERT_EQ(all[r * columns + c], value_at(r, c));
      const long there = apgas::at(g.place_of(r, c), [g, r, c] {
        const auto mine = g.local();
        return mine(static_cast<std::ptrdiff_t>(r - mine.first_row()),
                    static_cast<std::ptrdiff_t>(c - mine.first_column()));
      });
      ASSERT_EQ(there, value_at(r, c));
    }
  }
  EXPECT_EQ(g.reduce(0L, std::plus<>()), std::accumulate(all.begin(), all.end(), 0L));
  EXPECT_EQ(g.reduce(0L, std::plus<>(), [](long) { return 1L; }), static_cast<long>(all.size()));
  g.destroy();
}

// The halo of a place contains the elements of its neighbours, also at the corners, and zeros at
// the boundary.
TEST(dist_grid, halos_contain_the_elements_of_neighbours) {
  const auto places = static_cast<std::size_t>(apgas::num_places());
  const std::size_t grid_rows = 10 + 3 * places;
  const std::size_t grid_columns = 11 + 3 * places;
  for (const std::size_t halo : {1U, 2U, 3U}) {
    const dist_grid<long> g(grid_rows, grid_columns, {.halo = halo});
    forall(g, [](std::size_t r, std::size_t c, long& x) { x = 1 + value_at(r, c); });
    g.exchange_halo();
    apgas::finish([&] {
      for (const place p : g.group()) {
        apgas::async_at(p, [g, halo, grid_rows, grid_columns] {
          const auto mine = g.local();
          const auto h = static_cast<std::ptrdiff_t>(halo);
          const auto rows = static_cast<std::ptrdiff_t>(mine.rows());
          const auto columns = static_cast<std::ptrdiff_t>(mine.columns());
          for (std::ptrdiff_t r = -h; r < rows + h; ++r) {
            for (std::ptrdiff_t c = -h; c < columns + h; ++c) {
              const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(mine.first_row()) + r;
              const std::ptrdiff_t column = static_cast<std::ptrdiff_t>(mine.first_column()) + c;
              const bool inside = row >= 0 && std::cmp_less(row, grid_rows) && column >= 0 &&
                                  std::cmp_less(column, grid_columns);
              check(mine(r, c) == (inside ? 1 + value_at(static_cast<std::size_t>(row),
                                                         static_cast<std::size_t>(column))
                                          : 0));
            }
          }
        });
      }
    });
    g.destroy();
  }
}

// One step of a nine-point stencil.
template <class At>
long nine_points(At at) {
  long sum = 0;
  for (int r = -1; r <= 1; ++r) {
    for (int c = -1; c <= 1; ++c) sum += (3 * r + c + 5) * at(r, c);
  }
  return sum % 10'007;
}

// One step of the stencil for the local portion.
void step_here(const dist_grid<long>& from, const dist_grid<long>& to) {
  const auto in = from.local();
  to.for_each_local([&](std::size_t r, std::size_t c, long& x) {
    const auto row = static_cast<std::ptrdiff_t>(r - in.first_row());
    const auto column = static_cast<std::ptrdiff_t>(c - in.first_column());
    x = nine_points([&](int down, int right) { return in(row + down, column + right); });
  });
}

// One step for all elements, sequentially.
std::vector<long> stepped(const std::vector<long>& model, std::size_t rows, std::size_t columns) {
  const auto model_at = [&](std::ptrdiff_t r, std::ptrdiff_t c) {
    const bool inside = r >= 0 && c >= 0 && std::cmp_less(r, rows) && std::cmp_less(c, columns);
    return inside ? model[static_cast<std::size_t>(r) * columns + static_cast<std::size_t>(c)] : 0;
  };
  std::vector<long> next(model.size());
  for (std::size_t i = 0; i < model.size(); ++i) {
    const auto r = static_cast<std::ptrdiff_t>(i / columns);
    const auto c = static_cast<std::ptrdiff_t>(i % columns);
    next[i] = nine_points([&](int down, int right) { return model_at(r + down, c + right); });
  }
  return next;
}

// Calls f(from, to, model, rows, columns) for grids of several sizes.
template <class F>
void with_grids(F f) {
  apgas::base::random_engine random(test::random_seed());
  const std::size_t least = std::max<std::size_t>(4, static_cast<std::size_t>(apgas::num_places()));
  for (int k = 0; k < 5; ++k) {
    const std::size_t rows = least + random.below(20);
    const std::size_t columns = least + random.below(20);
    const dist_grid<long> from(rows, columns, {.halo = 1});
    const dist_grid<long> to(rows, columns, {.halo = 1});
    forall(from, [](std::size_t r, std::size_t c, long& x) { x = value_at(r, c); });
    f(from, to, from.gather(), rows, columns);
    from.destroy();
    to.destroy();
  }
}

TEST(dist_grid, a_stencil_agrees_with_the_sequential_one) {
  with_grids([](dist_grid<long> from, dist_grid<long> to, std::vector<long> model, std::size_t rows,
                std::size_t columns) {
    for (int step = 0; step < 5; ++step) {
      from.exchange_halo();
      apgas::finish([&] {
        for (const place p : apgas::places()) {
          apgas::async_at(p, [from, to] { step_here(from, to); });
        }
      });
      model = stepped(model, rows, columns);
      std::swap(from, to);
      ASSERT_EQ(from.gather(), model);
    }
  });
}

TEST(dist_grid, a_stencil_with_swap_halo_agrees_too) {
  with_grids([](const dist_grid<long>& from, const dist_grid<long>& to, std::vector<long> model,
                std::size_t rows, std::size_t columns) {
    constexpr int steps = 20;
    apgas::finish([&] {
      for (const place p : apgas::places()) {
        apgas::async_at(p, [from, to] {
          std::array<dist_grid<long>, 2> grids{from, to};
          for (int step = 0; step < steps; ++step) {
            if (step % 7 == apgas::here().id()) apgas::sleep_for(std::chrono::milliseconds{1});
            grids[0].swap_halo();
            step_here(grids[0], grids[1]);
            std::swap(grids[0], grids[1]);
          }
        });
      }
    });
    for (int step = 0; step < steps; ++step) model = stepped(model, rows, columns);
    EXPECT_EQ(from.gather(), model);
  });
}

TEST(dist_grid, swaps_nothing_without_a_halo) {
  const dist_grid<int> g(8, 8);
  apgas::finish([&] {
    for (const place p : apgas::places()) apgas::async_at(p, [g] { g.swap_halo(); });
  });
  g.destroy();
}

TEST(dist_grid, rejects_misuse) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  EXPECT_NE(test::message_of([] { dist_grid<long>(most, 2); }).find("can be addressed"),
            std::string::npos);
  EXPECT_NE(test::message_of([] { dist_grid<long>(2, most); }).find("can be addressed"),
            std::string::npos);
  EXPECT_NE(
      test::message_of([] { dist_grid<long>(1UL << 40, 1UL << 40); }).find("can be addressed"),
      std::string::npos);
  EXPECT_NE(test::message_of([] { dist_grid<int>(4, 20, {.halo = 5}); }).find("rows; each place"),
            std::string::npos);
  const auto rows = 20 * static_cast<std::size_t>(apgas::num_places());  // enough for each place
  EXPECT_NE(test::message_of([rows] {
              dist_grid<int>(rows, 4, {.halo = 5});
            }).find("columns; each place"),
            std::string::npos);
  EXPECT_NE(test::message_of([] { dist_grid<int>(4, 4, {.group = {}}); }).find("empty place_group"),
            std::string::npos);
  const dist_grid<int> g(3, 4);
  EXPECT_THROW(g.place_of(3, 0), apgas::illegal_operation);
  EXPECT_THROW(g.place_of(0, 4), apgas::illegal_operation);
  g.destroy();
  EXPECT_NE(test::message_of([g] { g.local(); }).find("a stale dist_grid was used"),
            std::string::npos);
  EXPECT_THROW(g.destroy(), apgas::illegal_operation);
  EXPECT_THROW(dist_grid<int>().destroy(), apgas::illegal_operation);
}

}  // namespace
