// SPDX-License-Identifier: Apache-2.0
// Runs each live program with the seeds from FIRST to LAST: live_schedules FIRST LAST [PROGRAM].
// With a seed and one place, the detector of deadlocks looks whenever a worker is about to sleep,
// and takes its patience for passed. With several places it does not run: the schedule itself
// notices when nothing can run any more. A false alarm of either ends the process with the code
// 124, after a line that names the seed.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <apgas/apgas.hpp>

#include "live.hpp"

namespace {

constexpr std::size_t programs = 40;

struct live_program : apgas::test::hang_case {
  bool over_places;
};

std::vector<live_program> all_programs() {
  std::vector<live_program> all;
  for (const auto& program : apgas::test::live_waits()) all.push_back({program, false});
  for (const auto& program : apgas::test::live_structures()) all.push_back({program, false});
  for (const auto& program : apgas::test::live_over_places()) all.push_back({program, true});
  return all;
}

int run_with_seed(const live_program& program, long seed, int argc, char** argv) {
  apgas::config settings;
  settings.places = program.over_places ? 2 + static_cast<int>(seed / 4 % 3) : 1;
  settings.workers = 1 + static_cast<int>(seed % 4);
  settings.more = {{"APGAS_SEED", std::to_string(seed)},
                   {"APGAS_DEADLOCK", "abort"},
                   {"APGAS_TRANSPORT", program.over_places ? "local" : "auto"}};
  return apgas::run(argc, argv, settings, [&program] { program.run(); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const long first = std::strtol(argv[1], nullptr, 10);
  const long last = std::strtol(argv[2], nullptr, 10);
  const std::string_view only = argc > 3 ? argv[3] : "";
  const std::vector<live_program> all = all_programs();
  if (all.size() < programs) return 2;
  long runs = 0;
  for (const auto& program : all) {
    if (!only.empty() && program.name != only) continue;
    std::printf("%.*s\n", static_cast<int>(program.name.size()), program.name.data());
    std::fflush(stdout);
    for (long seed = first; seed <= last; ++seed, ++runs) {
      if (const int code = run_with_seed(program, seed, argc, argv); code != 0) {
        std::printf("the code %d with the seed %ld\n", code, seed);
        return code;
      }
    }
  }
  std::printf("%ld schedules without a false alarm\n", runs);
  return runs == 0 ? 2 : 0;
}
