// SPDX-License-Identifier: Apache-2.0
#pragma once

// The known answer of the mesh programs: a standing wave that is zero on the boundary keeps its
// form under any mean over neighbours. A step only multiplies it by a factor that is known in
// closed form.

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace apps {

// The wave along one axis at the points 0 .. n + 1. The first and the last point are the boundary.
inline std::vector<double> standing_wave(int n, int waves) {
  std::vector<double> values(static_cast<std::size_t>(n) + 2);
  for (int i = 1; i <= n; ++i)
    values[static_cast<std::size_t>(i)] = std::sin(waves * i * std::numbers::pi / (n + 1));
  return values;
}

// The mean of the two neighbours of a point of this wave, in units of the value at the point.
inline double neighbour_mean(int n, int waves) {
  return std::cos(waves * std::numbers::pi / (n + 1));
}

}  // namespace apps
