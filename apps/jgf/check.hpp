// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the benchmark publishes for the sizes "A", "B" and "C", and how far a right result may be
// from it.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "support/kernel_outcome.hpp"

namespace jgf {

// The position of a size in a table.
inline std::size_t index_of(const std::string& size) {
  return static_cast<std::size_t>(size[0] - 'A');
}

// The sum of the inner points of the grid of SOR.
inline apps::published_result published_sor(const std::string& size) {
  constexpr std::array values = {0.498574406322512, 1.1234778980135105, 1.9954895063582696};
  return {100, values[index_of(size)], 1e-12};
}

// The kinetic energy of the particles of MolDyn, for the sizes A and B.
inline apps::published_result published_moldyn(const std::string& size) {
  constexpr std::array values = {1731.4306625334357, 7397.392307839352};
  return {50, values[index_of(size)], 1e-12};
}

// The rows of the system of LUFact.
inline std::size_t rows_of_lufact(const std::string& size) {
  constexpr std::array<std::size_t, 3> rows = {500, 1000, 2000};
  return rows[index_of(size)];
}

// The outcome of LUFact, whose normalised residual must not exceed the greatest permitted one.
inline apps::kernel_outcome judge_lufact(double seconds, const std::string& size, double residual) {
  constexpr std::array permitted = {6.0, 12.0, 20.0};
  const double most = permitted[index_of(size)];
  // A residual that is not a number is not verified.
  return {seconds, 1, residual, most, std::max(0.0, residual - most), residual <= most};
}

}  // namespace jgf
