// SPDX-License-Identifier: Apache-2.0
// A parallel algorithm that would write to a std::vector<bool>.
#include <functional>
#include <vector>

#include <apgas/apgas.hpp>

void slip(std::vector<int>& v, [[maybe_unused]] std::vector<char>& bytes,
          [[maybe_unused]] std::vector<bool>& bits) {
#ifdef APGAS_TEST_CONTROL
  apgas::parallel::transform(v, bytes.begin(), std::logical_not<>());
#else
  apgas::parallel::transform(v, bits.begin(), std::logical_not<>());
#endif
}
