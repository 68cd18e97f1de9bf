// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string_view>

#include <apgas/apgas.hpp>

#include "cases.hpp"

// Runs the case that its argument names; without an argument, prints the names.
int main(int argc, char** argv) {
  std::vector<apgas::test::hang_case> all;
  for (const auto& some : {apgas::test::cycles(), apgas::test::missing(), apgas::test::alive()})
    all.insert(all.end(), some.begin(), some.end());
  if (argc < 2) {
    for (const auto& c : all) std::printf("%.*s\n", static_cast<int>(c.name.size()), c.name.data());
    return 0;
  }
  for (const auto& c : all) {
    if (c.name != argv[1]) continue;
    if (c.before != nullptr) c.before();
    return apgas::run(argc, argv, [&c] { c.run(); });
  }
  std::fprintf(stderr, "there is no case %s\n", argv[1]);
  return 2;
}
