// SPDX-License-Identifier: Apache-2.0
#pragma once

// A step of the relaxation, and the initial mesh, whose form the relaxation keeps. Does not use the
// library.

#include <cmath>
#include <cstddef>
#include <vector>

#include "support/greatest.hpp"
#include "support/memory.hpp"
#include "support/standing_wave.hpp"

namespace jacobi {

inline constexpr int most_rows = 1'000'000;

// The memory that the places of the host of place 0 need together for a mesh of n rows and columns,
// in bytes: two copies of it.
inline double bytes_of_mesh(int n, const apps::placement& all) {
  return 2.0 * sizeof(double) * n * n * all.part_on_host();
}

// Each point of a row becomes the mean of its neighbours in three rows of the previous step.
inline void relax_row(const double* above, const double* here, const double* below, double* result,
                      std::ptrdiff_t columns) {
  for (std::ptrdiff_t j = 0; j < columns; ++j) {
    result[j] = 0.25 * (above[j] + below[j] + here[j - 1] + here[j + 1]);
  }
}

// The mesh starts as a standing wave, which is zero on the boundary. A step multiplies it by the
// same factor everywhere.
class wave {
 public:
  explicit wave(int n)
      : factor_((apps::neighbour_mean(n, waves_down) + apps::neighbour_mean(n, waves_across)) / 2),
        down_(apps::standing_wave(n, waves_down)),
        across_(apps::standing_wave(n, waves_across)) {}

  // The value of point (i, j) of the mesh, which has n rows and columns.
  [[nodiscard]] double start(std::size_t i, std::size_t j) const {
    return down_[i + 1] * across_[j + 1];
  }
  // The factor by which the steps have multiplied the wave.
  [[nodiscard]] double shrunk(int steps) const { return std::pow(factor_, steps); }

 private:
  static constexpr int waves_down = 3;
  static constexpr int waves_across = 5;

  double factor_;
  std::vector<double> down_;
  std::vector<double> across_;
};

// The largest error of a block of the mesh after some steps; not a number if a point is not a
// number. `point(i, j)` is the point in row i and column j of the block, which begins at
// (first_row, first_column) of the mesh.
template <class Point>
double largest_error(const wave& w, int steps, std::size_t first_row, std::size_t rows,
                     std::size_t first_column, std::size_t columns, Point point) {
  const double factor = w.shrunk(steps);
  double worst = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      const double exact = factor * w.start(first_row + i, first_column + j);
      apps::keep_greatest(worst, std::abs(point(i, j) - exact));
    }
  }
  return worst;
}

// Every step rounds by about one unit in the last place of a value below 1.
inline bool small_error(double error, int steps) { return error <= 1e-15 * (steps + 10); }

}  // namespace jacobi
