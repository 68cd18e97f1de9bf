// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "scaling_programs.hpp"

// scaling_model [--flat] PROGRAM SIZE WORKERS...: simulates the program, and prints a line of JSON
// for each number of workers. --flat: on flat_machine().
int main(int argc, char** argv) {
  using namespace apgas::test::scaling;
  const bool flat = argc > 1 && std::string_view(argv[1]) == "--flat";
  if (flat) ++argv, --argc;
  if (argc < 4) {
    std::fprintf(stderr, "usage: scaling_model [--flat] PROGRAM SIZE WORKERS...\n");
    return 2;
  }
  for (int i = 3; i < argc; ++i) {
    const int workers = std::atoi(argv[i]);
    world w(flat ? flat_machine() : machine{}, workers);
    const result r = w.run(program_called(argv[1], workers, std::strtoull(argv[2], nullptr, 10)));
    std::printf(
        "{\"program\": \"%s\", \"size\": %s, \"workers\": %d, \"ms\": %.4f, \"efficiency\": %.4f, "
        "\"tasks\": %lu, \"steals\": %lu, \"stolen\": %lu, \"fences\": %lu, \"sleeps\": %lu, "
        "\"wakes\": %lu, \"looks\": %lu, \"suspensions\": %lu}\n",
        argv[1], argv[2], workers, static_cast<double>(r.time) / cycles_per_ns / 1e6,
        r.efficiency(workers), r.tasks, r.steals, r.stolen, r.fences, r.sleeps, r.wakes, r.looks,
        r.suspensions);
    std::fflush(stdout);
  }
}
