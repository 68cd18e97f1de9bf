// SPDX-License-Identifier: Apache-2.0
// A histogram with buckets that are no integers.
#include <cstddef>
#include <vector>

#include <apgas/apgas.hpp>

void slip(std::vector<double>& v) {
#ifdef APGAS_TEST_CONTROL
  apgas::parallel::histogram(v, 10, [](double x) { return static_cast<std::size_t>(x); });
#else
  apgas::parallel::histogram(v, 10, [](double x) { return x; });
#endif
}
