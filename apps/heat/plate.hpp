// SPDX-License-Identifier: Apache-2.0
#pragma once

// The heat equation on a rectangular plate with cold edges, by explicit time steps.

#include <array>
#include <cstddef>
#include <vector>

namespace heat {

// Computes a line of a step from three lines of the previous step. All variants use one compiled
// function, so that they agree to the last bit. Sent to all places.
class scheme {
 public:
  // The time step is half of the largest stable one.
  constexpr scheme(int lines, int columns)
      : scheme((lines + 1.0) * (lines + 1.0), (columns + 1.0) * (columns + 1.0)) {}
  void advance_line(const double* above, const double* here, const double* below, double* to,
                    std::ptrdiff_t columns) const;

  // The factor by which a step multiplies a standing wave.
  [[nodiscard]] double decay(double mean_down, double mean_across) const {
    return 1 - 2 * along_ * (1 - mean_down) - 2 * across_ * (1 - mean_across);
  }

 private:
  constexpr scheme(double a, double b) : along_(0.25 * a / (a + b)), across_(0.25 * b / (a + b)) {}

  double along_, across_;  // the time step divided by the square of the distance between points
};

// The standing wave that the heat starts as. Lines 0 and lines + 1 are the frame, and so are the
// first and the last column.
class wave {
 public:
  wave(int lines, int columns);

  [[nodiscard]] double start(std::size_t line, std::size_t column) const {
    return down_[line] * across_[column];
  }
  // The factor by which the steps have multiplied the wave.
  [[nodiscard]] double shrunk(const scheme& s, int steps) const;

 private:
  std::vector<double> down_;
  std::vector<double> across_;
  double mean_down_;
  double mean_across_;
};

// The whole plate, with its frame. There are two copies; step s reads copy s % 2 and writes the
// other.
class plate {
 public:
  plate(int lines, int columns);

  // Computes the lines [first, last) of 1 .. lines() for step `step` + 1 from those of `step`.
  void advance(int step, int first, int last);

  [[nodiscard]] int lines() const { return lines_; }
  [[nodiscard]] int columns() const { return columns_; }
  // Line i after `steps` steps, beginning with its first point that is not in the frame.
  [[nodiscard]] double* line(int step, int i) {
    return copies_[static_cast<std::size_t>(step) % 2].data() +
           static_cast<std::ptrdiff_t>(i) * (columns_ + 2) + 1;
  }
  // The distance from the exact solution; not a number if a point is not a number.
  [[nodiscard]] double largest_error(int steps);

 private:
  int lines_;
  int columns_;
  scheme scheme_;
  std::array<std::vector<double>, 2> copies_;
};

// Whether an error after so many steps is only rounding: every step rounds by a few units in the
// last place of a value below 1.
inline bool small_error(double error, int steps) { return error <= 2e-15 * (steps + 10); }

}  // namespace heat
