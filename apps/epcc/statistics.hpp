// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace epcc {

struct summary {
  double mean;
  double deviation;  // the standard deviation of the samples
  double least;
  double median;
};

// Requires: at least one value.
inline summary summarise(std::vector<double> values) {
  std::ranges::sort(values);
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const double v : values) sum += v;
  const double mean = sum / n;
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  const std::size_t middle = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {mean, values.size() == 1 ? 0 : std::sqrt(squares / (n - 1)), values.front(), median};
}

}  // namespace epcc
