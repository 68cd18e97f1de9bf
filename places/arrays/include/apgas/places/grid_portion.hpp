// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <apgas/places/array_portion.hpp>

// The local portion of a dist_grid, and the arithmetic of its halo.
namespace apgas::inline v0 {

// A view of the local portion of a dist_grid, surrounded by its halo. Copying it is cheap; it is
// valid until the grid is destroyed.
//
//   const apgas::dist_grid<double> g(64, 64);
//   const apgas::grid_view<double> mine = g.local();
//   for (std::size_t r = 0; r < mine.rows(); ++r) {
//     double* const row = mine.row(static_cast<std::ptrdiff_t>(r));
//     for (std::size_t c = 0; c < mine.columns(); ++c) {
//       row[c] = mine.first_row() + r == mine.first_column() + c ? 1 : 0;
//     }
//   }
//   assert(mine(0, 0) == 1);
//
// Context: any thread, as for any value. Cost: that of an array.
template <class T>
class grid_view {
 public:
  // For the implementation: dist_grid::local() makes it.
  grid_view(T* origin, std::size_t rows, std::size_t columns, std::size_t stride, std::size_t row,
            std::size_t column) noexcept
      : origin_(origin),
        rows_(rows),
        columns_(columns),
        stride_(static_cast<std::ptrdiff_t>(stride)),
        first_row_(row),
        first_column_(column) {}

  // The numbers of rows and of columns of the local portion, without the halo.
  std::size_t rows() const noexcept { return rows_; }
  std::size_t columns() const noexcept { return columns_; }
  // The indices in the whole array of element (0, 0) of this view.
  std::size_t first_row() const noexcept { return first_row_; }
  std::size_t first_column() const noexcept { return first_column_; }

  // Element (r, c), counted from the first row and column of this view. row() returns a pointer to
  // the first element of row r; the elements of a row are consecutive.
  // Requires: -halo <= r < rows() + halo, and likewise for columns.
  T& operator()(std::ptrdiff_t r, std::ptrdiff_t c) const noexcept { return row(r)[c]; }
  T* row(std::ptrdiff_t r) const noexcept { return origin_ + r * stride_; }

 private:
  T* origin_;
  std::size_t rows_;
  std::size_t columns_;
  std::ptrdiff_t stride_;
  std::size_t first_row_;
  std::size_t first_column_;
};

namespace remote {

// The arrangement of places in rows and columns: as near to a square as their number allows, with
// no more rows than columns.
struct place_grid {
  std::size_t rows = 1;
  std::size_t columns = 1;

  static place_grid of(std::size_t places) noexcept {
    place_grid g{1, places};
    for (std::size_t r = 1; r * r <= places; ++r) {
      if (places % r == 0) g = {r, places / r};
    }
    return g;
  }
};

// The shape of a distributed grid: which portion has which element.
struct grid_shape {
  grid_shape() = default;
  grid_shape(std::size_t row_count, std::size_t column_count, std::size_t portions) noexcept
      : places(place_grid::of(portions)),
        rows(row_count, distribution::block(), places.rows),
        columns(column_count, distribution::block(), places.columns) {}

  std::size_t portion_of(std::size_t r, std::size_t c) const noexcept {
    return rows.portion_of(r) * places.columns + columns.portion_of(c);
  }

  place_grid places;
  dist_shape rows;
  dist_shape columns;
};

// The direction of a neighbour: -1, 0 or 1 rows and columns of places away.
struct grid_side {
  int down = 0;
  int right = 0;
};

// The portion: rows times columns elements, with `halo` elements around them.
template <class T>
struct grid_portion {
  grid_portion(const grid_shape& s, place_group g, std::size_t mine, std::size_t halo_width)
      : shape(s),
        group(std::move(g)),
        place_row(mine / s.places.columns),
        place_column(mine % s.places.columns),
        halo(halo_width),
        rows(s.rows.size_of(place_row)),
        columns(s.columns.size_of(place_column)),
        data(std::make_unique<T[]>((rows + 2 * halo) * (columns + 2 * halo))) {}

  grid_view<T> view() noexcept {
    const std::size_t stride = columns + 2 * halo;
    return {
        data.get() + halo * stride + halo,   rows, columns, stride, shape.rows.first_of(place_row),
        shape.columns.first_of(place_column)};
  }

  // Element (r, c) of the whole array.
  // Requires: it is in this portion.
  T& element(std::size_t r, std::size_t c) noexcept {
    return view()(static_cast<std::ptrdiff_t>(r - shape.rows.first_of(place_row)),
                  static_cast<std::ptrdiff_t>(c - shape.columns.first_of(place_column)));
  }

  // Whether there is a neighbour in that direction.
  bool has(const grid_side& s) const noexcept {
    const auto in = [](std::size_t at, int by, std::size_t of) {
      return by == 0 || (by < 0 ? at > 0 : at + 1 < of);
    };
    return in(place_row, s.down, shape.places.rows) &&
           in(place_column, s.right, shape.places.columns);
  }
  // The neighbour in that direction.
  // Requires: has(s).
  place neighbour(const grid_side& s) const {
    const auto moved = [](std::size_t at, int by) {
      return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(at) + by);
    };
    return group[moved(place_row, s.down) * shape.places.columns + moved(place_column, s.right)];
  }

  // Calls f row by row for each element of this portion of which the neighbour in that direction
  // keeps a copy. With `beyond`, calls it for each element of this portion's halo that is a copy of
  // the neighbour's.
  template <class F>
  void for_each_on(const grid_side& s, bool beyond, F f) noexcept {
    const grid_view<T> mine = view();
    const auto [top, bottom] = span_of(s.down, rows, beyond);
    const auto [left, right] = span_of(s.right, columns, beyond);
    for (std::ptrdiff_t r = top; r < bottom; ++r) {
      for (std::ptrdiff_t c = left; c < right; ++c) f(mine(r, c));
    }
  }
  // For how many elements that is.
  std::size_t count_on(const grid_side& s) const noexcept {
    return (s.down == 0 ? rows : halo) * (s.right == 0 ? columns : halo);
  }

  grid_shape shape;
  place_group group;
  std::size_t place_row;
  std::size_t place_column;
  std::size_t halo;
  std::size_t rows;
  std::size_t columns;
  std::unique_ptr<T[]> data;
  halo_edges edges;

 private:
  std::pair<std::ptrdiff_t, std::ptrdiff_t> span_of(int side, std::size_t length,
                                                    bool beyond) const noexcept {
    const auto n = static_cast<std::ptrdiff_t>(length);
    const auto h = static_cast<std::ptrdiff_t>(halo);
    if (side == 0) return {0, n};
    if (side < 0)
      return beyond ? std::pair{-h, std::ptrdiff_t{0}} : std::pair{std::ptrdiff_t{0}, h};
    return beyond ? std::pair{n, n + h} : std::pair{n - h, n};
  }
};

}  // namespace remote
}  // namespace apgas::inline v0
