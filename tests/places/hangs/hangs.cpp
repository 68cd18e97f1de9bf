// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdio>
#include <string_view>
#include <vector>

#include <apgas/apgas.hpp>

#include "cases.hpp"

// Runs the case that its argument names, with the second argument "embedded" in an apgas::runtime
// whose thread waits in run(); without an argument, prints the names, and behind each one
// whether it is for one place or for several.
int main(int argc, char** argv) {
  std::vector<apgas::test::hang_case> all;
  const auto add = [&all](const std::vector<apgas::test::hang_case>& some) {
    all.insert(all.end(), some.begin(), some.end());
  };
  add(apgas::test::cycles());
  add(apgas::test::missing());
  add(apgas::test::alive());
  add(apgas::test::beside());
  const std::size_t of_one_place = all.size();
  add(apgas::test::over_places());
  add(apgas::test::alive_over_places());
  add(apgas::test::beside_places());
  if (argc < 2) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::printf("%.*s %s\n", static_cast<int>(all[i].name.size()), all[i].name.data(),
                  i < of_one_place ? "one" : "several");
    }
    return 0;
  }
  for (const auto& c : all) {
    if (c.name != argv[1]) continue;
    if (c.before != nullptr) c.before();
    if (argc > 2 && std::string_view(argv[2]) == "embedded") {
      apgas::runtime runtime(argc, argv);
      runtime.run([&c] { c.run(); });
      return runtime.stop();
    }
    return apgas::run(argc, argv, [&c] { c.run(); });
  }
  std::fprintf(stderr, "there is no case %s\n", argv[1]);
  return 2;
}
