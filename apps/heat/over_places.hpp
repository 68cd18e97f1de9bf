// SPDX-License-Identifier: Apache-2.0
#pragma once

// The plate in blocks over the places.

#include <vector>

namespace heat {

struct spread_outcome {
  double seconds;
  std::vector<double> points;  // line by line, without the frame
};

// Requires: at least one line and one column for each place. Context: task; may suspend.
spread_outcome diffuse_over_places(int lines, int columns, int steps);

}  // namespace heat
