// SPDX-License-Identifier: Apache-2.0

// A task at each place prints a line; `hello 7` ends with the code 7.

#include <cstdio>
#include <cstdlib>

#include <apgas/apgas.hpp>
#include <unistd.h>

int main(int argc, char** argv) {
  return apgas::run(argc, argv, [argc, argv] {
    apgas::finish([] {
      for (const apgas::place p : apgas::places()) {
        apgas::async_at(p, [] {
          char host[64] = "";
          gethostname(host, sizeof host - 1);
          std::printf("Hello from place %d on %s\n", apgas::here().id(), host);
        });
      }
    });
    return argc > 1 ? std::atoi(argv[1]) : 0;
  });
}
