// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <vector>

#include "heat/plate.hpp"
#include "support/greatest.hpp"
#include "support/standing_wave.hpp"

namespace heat {
namespace {

constexpr int waves_down = 3;
constexpr int waves_across = 5;

}  // namespace

void scheme::advance_line(const double* above, const double* here, const double* below, double* to,
                          std::ptrdiff_t columns) const {
  for (std::ptrdiff_t j = 0; j < columns; ++j) {
    to[j] = here[j] + along_ * (above[j] - 2 * here[j] + below[j]) +
            across_ * (here[j - 1] - 2 * here[j] + here[j + 1]);
  }
}

wave::wave(int lines, int columns)
    : down_(apps::standing_wave(lines, waves_down)),
      across_(apps::standing_wave(columns, waves_across)),
      mean_down_(apps::neighbour_mean(lines, waves_down)),
      mean_across_(apps::neighbour_mean(columns, waves_across)) {}

double wave::shrunk(const scheme& s, int steps) const {
  return std::pow(s.decay(mean_down_, mean_across_), steps);
}

plate::plate(int lines, int columns) : lines_(lines), columns_(columns), scheme_(lines, columns) {
  const std::size_t width = static_cast<std::size_t>(columns) + 2;
  copies_.fill(std::vector<double>((static_cast<std::size_t>(lines) + 2) * width));
  const wave w(lines, columns);
  for (std::size_t k = 0; k < copies_[0].size(); ++k) {
    copies_[0][k] = w.start(k / width, k % width);
  }
}

void plate::advance(int step, int first, int last) {
  for (int i = first; i < last; ++i) {
    scheme_.advance_line(line(step, i - 1), line(step, i), line(step, i + 1), line(step + 1, i),
                         columns_);
  }
}

double plate::largest_error(int steps) {
  const wave w(lines_, columns_);
  const double factor = w.shrunk(scheme_, steps);
  double worst = 0;
  for (int i = 1; i <= lines_; ++i) {
    const double* const here = line(steps, i);
    for (int j = 0; j < columns_; ++j) {
      const double exact =
          factor * w.start(static_cast<std::size_t>(i), static_cast<std::size_t>(j) + 1);
      apps::keep_greatest(worst, std::abs(here[j] - exact));
    }
  }
  return worst;
}

}  // namespace heat
