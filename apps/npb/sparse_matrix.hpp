// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace npb {

// The random sparse symmetric matrix of CG, by rows: a sum of outer products of sparse vectors with
// weights that fall geometrically from 1 to 0.1, shifted by (0.1 - shift) times the identity.
class sparse_matrix {
 public:
  sparse_matrix(int n, int nonzeros_of_a_vector, double shift);
  [[nodiscard]] std::size_t size() const { return starts_.size() - 1; }

  [[nodiscard]] double row_times(std::size_t row, const std::vector<double>& v) const {
    double sum = 0;
    for (std::size_t k = starts_[row]; k < starts_[row + 1]; ++k) {
      sum += values_[k] * v[static_cast<std::size_t>(columns_[k])];
    }
    return sum;
  }

 private:
  std::vector<std::size_t> starts_;  // those of row i are [starts_[i], starts_[i + 1])
  std::vector<int> columns_;
  std::vector<double> values_;
};

}  // namespace npb
