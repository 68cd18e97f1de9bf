// SPDX-License-Identifier: Apache-2.0
// An operation whose identity the accumulator cannot know.
#include <apgas/apgas.hpp>

struct longest {
  double operator()(double a, double b) const { return a < b ? b : a; }
};

void slip(const apgas::phaser& ph) {
#ifdef APGAS_TEST_CONTROL
  const apgas::accumulator a(ph, longest(), 0.0);
#else
  const apgas::accumulator<double, longest> a(ph);
#endif
}
