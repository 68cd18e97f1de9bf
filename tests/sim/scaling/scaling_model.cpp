// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "scaling_programs.hpp"

// scaling_model [--flat] [--task NS] PROGRAM SIZE WORKERS...: simulates the program, and prints a
// line of JSON for each number of workers. --flat: on flat_machine(). --task: with tasks that take
// that long.
int main(int argc, char** argv) {
  using namespace apgas::test::scaling;
  const bool flat = argc > 1 && std::string_view(argv[1]) == "--flat";
  if (flat) ++argv, --argc;
  double task_ns = -1;
  if (argc > 2 && std::string_view(argv[1]) == "--task") {
    task_ns = std::atof(argv[2]);
    argv += 2, argc -= 2;
  }
  if (argc < 4) {
    std::fprintf(stderr, "usage: scaling_model [--flat] [--task NS] PROGRAM SIZE WORKERS...\n");
    return 2;
  }
  for (int i = 3; i < argc; ++i) {
    const int workers = std::atoi(argv[i]);
    world w(flat ? flat_machine() : machine{}, workers);
    program p = program_called(argv[1], workers, std::strtoull(argv[2], nullptr, 10));
    if (task_ns >= 0) p.per_task = static_cast<cycles>(task_ns * cycles_per_ns);
    const result r = w.run(p);
    std::printf(
        "{\"program\": \"%s\", \"size\": %s, \"workers\": %d, \"ms\": %.4f, \"efficiency\": %.4f, "
        "\"tasks\": %lu, \"steals\": %lu, \"stolen\": %lu, \"fences\": %lu, \"sleeps\": %lu, "
        "\"wakes\": %lu, \"looks\": %lu, \"suspensions\": %lu",
        argv[1], argv[2], workers, static_cast<double>(r.time) / cycles_per_ns / 1e6,
        r.efficiency(workers), r.tasks, r.steals, r.stolen, r.fences, r.sleeps, r.wakes, r.looks,
        r.suspensions);
    if (r.phases != 0) {
      std::printf(
          ", \"task_ns\": %.1f, \"phases\": %lu, \"us_a_phase\": %.4f, \"locks\": %lu, "
          "\"moved\": %lu",
          static_cast<double>(p.per_task) / cycles_per_ns, r.phases,
          static_cast<double>(r.phases_time) / cycles_per_ns / 1e3 / static_cast<double>(r.phases),
          r.locks, r.moved);
    }
    std::printf("}\n");
    std::fflush(stdout);
  }
}
