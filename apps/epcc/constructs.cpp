// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "epcc/constructs.hpp"

namespace epcc {

double delays_of_a_core(const std::string& construct, int members, int cores) {
  const auto shared = [cores](int n) { return (n + cores - 1) / cores; };
  if (construct == "single") return 1;
  if (construct != "growing") return shared(members);
  double sum = 0;
  for (int n = 2; n <= members; ++n) sum += shared(n);
  return sum / rounds_of_a_repetition(construct, members);
}

}  // namespace epcc
