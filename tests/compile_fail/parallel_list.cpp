// SPDX-License-Identifier: Apache-2.0
// A parallel algorithm on a range without random access.
#include <list>
#include <vector>

#include <apgas/apgas.hpp>

void slip(std::vector<int>& v, [[maybe_unused]] std::list<int>& list) {
#ifdef APGAS_TEST_CONTROL
  apgas::parallel::sort(v);
#else
  apgas::parallel::sort(list);
#endif
}
