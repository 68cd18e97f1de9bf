// SPDX-License-Identifier: Apache-2.0
// A program as a user would write it: a task for each place asks for the id of that place, and the
// ids are added up.
#include <cstdio>
#include <numeric>
#include <vector>

#include <apgas/apgas.hpp>

int main(int argc, char** argv) {
  return apgas::run(argc, argv, [] {
    std::vector<int> ids(static_cast<std::size_t>(apgas::num_places()), -1);
    apgas::finish([&] {
      for (apgas::place p : apgas::places()) {
        apgas::async([&ids, p] {
          ids[static_cast<std::size_t>(p.id())] = apgas::at(p, [] { return apgas::here().id(); });
        });
      }
    });
    const int n = apgas::num_places();
    const int sum = std::accumulate(ids.begin(), ids.end(), 0);
    std::printf("%d places, sum of their ids %d\n", n, sum);
    return sum == n * (n - 1) / 2 ? 0 : 1;
  });
}
