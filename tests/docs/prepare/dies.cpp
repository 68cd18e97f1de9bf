// SPDX-License-Identifier: Apache-2.0
// A program whose last task aborts, for the page about traces.
#include <cstdlib>

#include <apgas/apgas.hpp>

int main(int argc, char** argv) {
  return apgas::run(argc, argv, [] {
    apgas::finish([] {
      for (apgas::place p : apgas::places()) apgas::async_at(p, [] {});
    });
    apgas::finish([] { apgas::async([] { std::abort(); }); });
  });
}
