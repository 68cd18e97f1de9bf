// SPDX-License-Identifier: Apache-2.0

// Linpack: solves a system of linear equations by LU factorisation with partial pivoting. The
// matrix is stored by columns. For each column one member finds the pivot and scales the column;
// then the members update the columns to the right of it, which they own in turn. Every element is
// computed by the same operations in all variants.
//
// The numbers of the published matrix repeat after 16,384. Rows 1,024 apart are thus equal in size
// C, and its matrix is singular.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "jgf/kernel.hpp"
#include "support/stopwatch.hpp"

namespace jgf {
namespace {

using vector = std::vector<double>;

class linear_system {
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

  // The normalised residual of Linpack. Requires: the system is not yet factorised.
  [[nodiscard]] double residual(const vector& x) const {
    const std::size_t n = columns_.size();
    vector difference(n);
    for (std::size_t i = 0; i < n; ++i) difference[i] = -right_side_[i];
    double largest = 0;
    for (std::size_t j = 0; j < n; ++j) {
      add_multiple(x[j], columns_[j], 0, n, difference);
      largest = std::max(largest, *std::ranges::max_element(columns_[j]));
    }
    return norm(difference) /
           (static_cast<double>(n) * largest * norm(x) * std::numeric_limits<double>::epsilon());
  }

  [[nodiscard]] std::size_t size() const { return columns_.size(); }

 private:
  static void add_multiple(double factor, const vector& of, std::size_t first, std::size_t last,
                           vector& to) {
    const double* const from = of.data();
    double* const into = to.data();
    for (std::size_t i = first; i < last; ++i) into[i] += factor * from[i];
  }
  static double norm(const vector& v) {
    double most = 0;
    for (const double x : v) most = std::max(most, std::abs(x));
    return most;
  }

  std::vector<vector> columns_;
  vector right_side_;
  std::vector<std::size_t> pivots_;
};

template <class Member>
void factorise(linear_system& s, const Member& member) {
  const auto members = static_cast<std::size_t>(member.members());
  const auto id = static_cast<std::size_t>(member.id());
  for (std::size_t k = 0; k + 1 < s.size(); ++k) {
    if (k % members == id) s.find_pivot(k);
    member.wait();
    const std::size_t after = k + 1;
    const std::size_t first = after + (id + members - after % members) % members;
    for (std::size_t j = first; j < s.size(); j += members) s.eliminate(k, j);
    member.wait();
  }
}

}  // namespace

apps::kernel_outcome run_lufact(const std::string& size, const apps::task_plan& plan) {
  constexpr std::size_t lengths[] = {500, 1000, 2000};
  constexpr double permitted[] = {6, 12, 20};
  const auto which = static_cast<std::size_t>(size[0] - 'A');

  linear_system s(lengths[which]);
  const apps::stopwatch watch;
  apps::run_in_lock_step(plan.how, plan.peer, [&](auto& member) { factorise(s, member); });
  const vector x = s.solve();
  apps::kernel_outcome o{.seconds = watch.seconds(), .iterations = 1, .expected = permitted[which]};
  o.value = linear_system(lengths[which]).residual(x);
  o.error = std::max(0.0, o.value - o.expected);
  o.verified = o.value <= o.expected;  // false for a value that is not a number
  return o;
}

}  // namespace jgf
