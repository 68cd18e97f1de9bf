// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "npb/randlc.hpp"
#include "npb/sparse_matrix.hpp"

namespace npb {
namespace {

struct element {
  int index;
  double value;
};
using sparse_vector = std::vector<element>;

// Element `own` is 0.5, and up to `nonzeros` other elements are random at random indices.
sparse_vector random_vector(int n, int nonzeros, int own, randlc& random) {
  int power = 1;
  while (power < n) power *= 2;
  sparse_vector v;
  while (std::cmp_less(v.size(), nonzeros)) {
    const double value = random();
    const int index = static_cast<int>(power * random());
    if (index >= n || std::ranges::count(v, index, &element::index) != 0) continue;
    v.push_back({index, value});
  }
  const auto at = std::ranges::find(v, own, &element::index);
  if (at != v.end()) {
    at->value = 0.5;
  } else {
    v.push_back({own, 0.5});
  }
  return v;
}

// Adds up the elements of equal index, in the order in which they are.
void merge(sparse_vector& row) {
  std::ranges::stable_sort(row, {}, &element::index);
  std::size_t length = 0;
  for (const element& e : row) {
    if (length != 0 && row[length - 1].index == e.index) {
      row[length - 1].value += e.value;
    } else {
      row[length++] = e;
    }
  }
  row.resize(length);
}

}  // namespace

sparse_matrix::sparse_matrix(int n, int nonzeros_of_a_vector, double shift) {
  constexpr double smallest = 0.1;
  const double ratio = std::pow(smallest, 1.0 / n);
  randlc random;
  random();  // the benchmark does not use the first number
  std::vector<sparse_vector> rows(static_cast<std::size_t>(n));
  double weight = 1;
  for (int i = 0; i < n; ++i) {
    const sparse_vector v = random_vector(n, nonzeros_of_a_vector, i, random);
    for (const element& of_row : v) {
      sparse_vector& row = rows[static_cast<std::size_t>(of_row.index)];
      const double scale = weight * of_row.value;
      for (const element& of_column : v) {
        const bool own = of_row.index == i && of_column.index == i;
        row.push_back({of_column.index, of_column.value * scale + (own ? smallest - shift : 0)});
      }
    }
    weight *= ratio;
  }
  starts_.push_back(0);
  for (sparse_vector& row : rows) {
    merge(row);
    for (const element& e : row) {
      columns_.push_back(e.index);
      values_.push_back(e.value);
    }
    starts_.push_back(columns_.size());
    row = {};
  }
}

}  // namespace npb
