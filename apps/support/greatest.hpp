// SPDX-License-Identifier: Apache-2.0
#pragma once

// The greatest error of a result. std::max and std::fmax ignore a value that is not a number, so
// that a check which uses them accepts a result with such an element.

#include <cmath>
#include <cstddef>
#include <span>

namespace apps {

// Sets `greatest` to `value` if `value` is greater or not a number. If `greatest` is not a number,
// it stays so; no tolerance permits it then.
inline void keep_greatest(double& greatest, double value) {
  if (!(value <= greatest) && !std::isnan(greatest)) greatest = value;
}

// The greatest absolute value of an element; not a number if an element is not a number.
inline double greatest_size(std::span<const double> v) {
  double greatest = 0;
  for (const double x : v) keep_greatest(greatest, std::abs(x));
  return greatest;
}

// The greatest distance between two elements at the same position; not a number if an element is
// not a number, and infinite if the vectors differ in length.
inline double greatest_difference(std::span<const double> v, std::span<const double> w) {
  if (v.size() != w.size()) return HUGE_VAL;
  double greatest = 0;
  for (std::size_t i = 0; i < v.size(); ++i) keep_greatest(greatest, std::abs(v[i] - w[i]));
  return greatest;
}

}  // namespace apps
