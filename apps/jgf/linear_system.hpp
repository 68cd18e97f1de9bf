// SPDX-License-Identifier: Apache-2.0
#pragma once

// The system of linear equations of Linpack. The matrix is stored by columns.
//
// The numbers of the published matrix repeat after 16,384. Rows 1,024 apart are thus equal in size
// C, and its matrix is singular.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "support/greatest.hpp"

namespace jgf {

class linear_system {
  using vector = std::vector<double>;

 public:
  explicit linear_system(std::size_t n) : columns_(n, vector(n)), right_side_(n), pivots_(n) {
    int state = 1325;
    for (std::size_t i = 0; i < n; ++i) {
      for (vector& column : columns_) {
        state = 3125 * state % 65536;
        column[i] = (state - 32768.0) / 16384.0;
        right_side_[i] += column[i];
      }
    }
  }

  // The part of factorisation step k that one member does: finds the pivot in column k, and scales
  // the column.
  void find_pivot(std::size_t k) {
    vector& column = columns_[k];
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < column.size(); ++i) {
      if (std::abs(column[i]) > std::abs(column[pivot])) pivot = i;
    }
    pivots_[k] = pivot;
    if (column[pivot] == 0) return;
    std::swap(column[pivot], column[k]);
    const double factor = -1 / column[k];
    for (std::size_t i = k + 1; i < column.size(); ++i) column[i] *= factor;
  }

  // Eliminates the element of row k from column j, where j > k.
  void eliminate(std::size_t k, std::size_t j) {
    const vector& by = columns_[k];
    vector& column = columns_[j];
    if (by[k] == 0) return;
    std::swap(column[pivots_[k]], column[k]);
    add_multiple(column[k], by, k + 1, column.size(), column);
  }

  // The unknown of a pivot that is zero is free, and zero here. The right side is a sum of the
  // columns, so that there is a solution nevertheless. Requires: all steps of the factorisation are
  // done.
  [[nodiscard]] vector solve() const {
    const std::size_t n = columns_.size();
    vector x = right_side_;
    for (std::size_t k = 0; k + 1 < n; ++k) {
      std::swap(x[pivots_[k]], x[k]);
      add_multiple(x[k], columns_[k], k + 1, n, x);
    }
    for (std::size_t k = n; k-- > 0;) {
      x[k] = columns_[k][k] == 0 ? 0 : x[k] / columns_[k][k];
      add_multiple(-x[k], columns_[k], 0, k, x);
    }
    return x;
  }

  // The normalised residual of Linpack; not a number if an element of x is not a number. Requires:
  // the system is not yet factorised, and x has as many elements as rows.
  [[nodiscard]] double residual(const vector& x) const {
    const std::size_t n = columns_.size();
    vector difference(n);
    for (std::size_t i = 0; i < n; ++i) difference[i] = -right_side_[i];
    double largest = 0;
    for (std::size_t j = 0; j < n; ++j) {
      add_multiple(x[j], columns_[j], 0, n, difference);
      largest = std::max(largest, *std::ranges::max_element(columns_[j]));
    }
    return apps::greatest_size(difference) /
           (static_cast<double>(n) * largest * apps::greatest_size(x) *
            std::numeric_limits<double>::epsilon());
  }

  [[nodiscard]] std::size_t size() const { return columns_.size(); }

 private:
  static void add_multiple(double factor, const vector& of, std::size_t first, std::size_t last,
                           vector& to) {
    const double* const from = of.data();
    double* const into = to.data();
    for (std::size_t i = first; i < last; ++i) into[i] += factor * from[i];
  }

  std::vector<vector> columns_;
  vector right_side_;
  std::vector<std::size_t> pivots_;
};

}  // namespace jgf
