// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string_view>
#include <vector>

#include <apgas/apgas.hpp>

#include "scheduled_cases.hpp"

// Runs the case that its argument names; without an argument, prints the names.
int main(int argc, char** argv) {
  std::vector<apgas::test::scheduled_case> all = apgas::test::planted_races();
  for (const auto& c : apgas::test::programs()) all.push_back(c);
  if (argc < 2) {
    for (const auto& c : all) std::printf("%.*s\n", static_cast<int>(c.name.size()), c.name.data());
    return 0;
  }
  for (const auto& c : all) {
    if (c.name == argv[1]) return apgas::run(argc, argv, [&c] { return c.run(); });
  }
  std::fprintf(stderr, "there is no case %s\n", argv[1]);
  return 2;
}
