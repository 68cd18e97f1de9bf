// SPDX-License-Identifier: Apache-2.0
#pragma once

// The problems of the classes S, W and A, with the results that are published for them.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "support/kernel_outcome.hpp"

namespace npb {

// CG finds an eigenvalue of a random matrix of n rows.
struct matrix_problem {
  std::string_view name;
  int n;
  int nonzeros;
  double shift;
  apps::published_result known;
};
inline constexpr std::array<matrix_problem, 3> matrix_problems = {
    {{"S", 1400, 7, 10, {15, 8.5971775078648, 1e-10}},
     {"W", 7000, 8, 12, {15, 10.362595087124, 1e-10}},
     {"A", 14000, 11, 20, {15, 17.130235054029, 1e-10}}}};

// MG finds the norm of the residual on a grid of n^3 points.
struct grid_problem {
  std::string_view name;
  std::ptrdiff_t n;
  apps::published_result known;
};
inline constexpr std::array<grid_problem, 3> grid_problems = {
    {{"S", 32, {4, 0.5307707005734e-04, 1e-8}},
     {"W", 128, {4, 0.6467329375339e-05, 1e-8}},
     {"A", 256, {4, 0.2433365309069e-05, 1e-8}}}};

inline const matrix_problem& matrix_of(const std::string& size) {
  return *std::ranges::find(matrix_problems, size, &matrix_problem::name);
}
inline const grid_problem& grid_of(const std::string& size) {
  return *std::ranges::find(grid_problems, size, &grid_problem::name);
}

}  // namespace npb
