// SPDX-License-Identifier: Apache-2.0
// A radix sort by a key that is no integer.
#include <cmath>
#include <vector>

#include <apgas/apgas.hpp>

void slip(std::vector<double>& v) {
#ifdef APGAS_TEST_CONTROL
  apgas::parallel::integer_sort(v, [](double x) { return std::lround(x); });
#else
  apgas::parallel::integer_sort(v, [](double x) { return x; });
#endif
}
