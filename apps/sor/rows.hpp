// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernel of SOR over places: the points, one half of a sweep over a row, and the published
// results. Does not use the library, so that the program in plain MPI (apps/peers) does the same.
//
// Points (i, j) with an even i + j have colour 0, the others colour 1. Each colour has its own
// array, because one half of a sweep reads the points of one colour and writes those of the other.
// So a place can receive points of one colour while it still reads the other ones, and the points
// of a row that are updated lie next to each other.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "jgf/java_random.hpp"

namespace sor {

inline constexpr int published_iterations = 100;

// The points of one colour in a row of N points: element k is point 2k + offset(row, colour).
template <std::size_t N>
using half_row = std::array<double, N / 2>;

constexpr std::size_t offset(std::size_t row, std::size_t colour) { return (row + colour) % 2; }

// Generates the rows [0, last) in the order of the benchmark's generator, and calls
// set(row, colour, half_row) for each row from `first` on.
template <std::size_t N, class Set>
void generate(std::size_t first, std::size_t last, Set set) {
  jgf::java_random random(10101010);
  for (std::size_t i = 0; i < last; ++i) {
    half_row<N> of_colour[2];
    for (std::size_t j = 0; j < N; ++j) {
      of_colour[(i + j) % 2][j / 2] = random.next_double() * 1e-6;
    }
    if (i < first) continue;
    for (std::size_t colour = 0; colour < 2; ++colour) set(i, colour, of_colour[colour]);
  }
}

// Updates the inner points of one colour in row i. `other` points to the points of the other colour
// in this row; those of the rows above and below are before and behind them.
template <std::size_t N>
void relax(std::size_t i, std::size_t colour, half_row<N>& mine, const half_row<N>* other) {
  constexpr double omega = 1.25;
  constexpr double quarter = omega * 0.25;
  const std::size_t s = offset(i, colour);
  const double* const above = other[-1].data();
  const double* const below = other[1].data();
  const double* const right = other->data() + s;  // the left neighbour of k is right[k - 1]
  double* __restrict const x = mine.data();       // another array, so the loop uses vectors
  for (std::size_t k = 1 - s; k < N / 2 - s; ++k) {
    x[k] = quarter * (above[k] + below[k] + right[k - 1] + right[k]) + (1 - omega) * x[k];
  }
}

// Returns the sum of the inner points of one colour in row i.
template <std::size_t N>
double sum_inside(std::size_t i, std::size_t colour, const half_row<N>& points) {
  if (i == 0 || i == N - 1) return 0;
  const std::size_t s = offset(i, colour);
  double sum = 0;
  for (std::size_t k = 1 - s; k < N / 2 - s; ++k) sum += points[k];
  return sum;
}

// The rows of the points of each colour.
template <std::size_t N>
using grid_points = std::array<std::vector<half_row<N>>, 2>;

// The same computation by one task or rank: `iterations` sweeps over rows 1 to N - 2.
template <std::size_t N>
class serial_grid {
 public:
  serial_grid() {
    for (auto& points : colours_) points.resize(N);
    generate<N>(0, N, [this](std::size_t i, std::size_t colour, const half_row<N>& points) {
      colours_[colour][i] = points;
    });
  }
  void sweep(int iterations) {
    for (int half = 0; half < 2 * iterations; ++half) {
      const std::size_t colour = half % 2 == 0 ? 0 : 1;
      for (std::size_t i = 1; i + 1 < N; ++i) {
        relax<N>(i, colour, colours_[colour][i], &colours_[1 - colour][i]);
      }
    }
  }
  [[nodiscard]] double sum() const {
    double all = 0;
    for (std::size_t i = 0; i < N; ++i) {
      for (std::size_t c = 0; c < 2; ++c) all += sum_inside<N>(i, c, colours_[c][i]);
    }
    return all;
  }
  [[nodiscard]] const grid_points<N>& points() const { return colours_; }
  // How many of the points differ from those of this grid, or are missing, or too many.
  [[nodiscard]] std::int64_t different(const grid_points<N>& others) const {
    std::int64_t count = 0;
    for (std::size_t c = 0; c < 2; ++c) {
      const std::size_t rows = std::min(N, others[c].size());
      count += static_cast<std::int64_t>((std::max(N, others[c].size()) - rows) * (N / 2));
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t k = 0; k < N / 2; ++k) {
          count += others[c][i][k] != colours_[c][i][k] ? 1 : 0;
        }
      }
    }
    return count;
  }

 private:
  grid_points<N> colours_;
};

// Whether a result is the expected one.
struct check_result {
  double expected = 0;         // the published sum, or that of the serial program
  double error = 0;            // of the sum, relative
  std::int64_t different = 0;  // points that differ from those of the serial program

  // False for a sum that is not a number.
  [[nodiscard]] bool right() const { return error <= 1e-12 && different == 0; }
};

// Checks the sum of the inner points after `iterations` sweeps, and all points if `points` is not
// null and there is no published sum.
template <std::size_t N>
check_result check(double sum, int iterations, const grid_points<N>* points = nullptr) {
  check_result result;
  if (iterations == published_iterations) {
    result.expected = N == 1000   ? 0.498574406322512
                      : N == 1500 ? 1.1234778980135105
                                  : 1.9954895063582696;
  } else {
    serial_grid<N> grid;
    grid.sweep(iterations);
    result.expected = grid.sum();
    if (points != nullptr) result.different = grid.different(*points);
  }
  result.error = std::abs(sum - result.expected) / result.expected;
  return result;
}

// Calls f(n) with the length n of a side as a std::integral_constant.
template <class F>
auto with_length(const std::string& size, F f) {
  if (size == "A") return f(std::integral_constant<std::size_t, 1000>());
  if (size == "B") return f(std::integral_constant<std::size_t, 1500>());
  return f(std::integral_constant<std::size_t, 2000>());
}

}  // namespace sor
