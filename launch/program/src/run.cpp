// SPDX-License-Identifier: Apache-2.0
#include <apgas/run.hpp>

#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <apgas/base/log.hpp>
#include <apgas/base/own_threads.hpp>
#include <apgas/errors.hpp>

#include "active_program.hpp"
#include "session.hpp"

// A program that hands over its main.
namespace apgas::inline v0 {

bool detail::reports_for_job() {
  for (const char* rank :
       {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID", "PMIX_RANK"}) {
    const char* value = std::getenv(rank);  // NOLINT(concurrency-mt-unsafe): before any thread
    if (value != nullptr) return std::string_view(value) == "0";
  }
  return true;
}

void detail::let_others_report() { std::this_thread::sleep_for(std::chrono::milliseconds(500)); }

int detail::run_program(int argc, char** argv, const config& defaults,
                        const std::function<int(int, char**)>& main) {
  const launch::active_program active(launch::program_kind::run);
  const base::own_thread serves;  // the tasks of the program run on the workers
  try {
    launch::session places(defaults, launch::command_line{argc, argv});
    const int code = places.here() == 0 ? places.place().run_main([&] { return main(argc, argv); })
                                        : places.place().wait_for_end();
    places.end();
    return code;
  } catch (const launch_error& failure) {
    if (reports_for_job()) {
      base::print_line(failure.what());
    } else {
      let_others_report();
    }
    return exit_code_not_started;
  }
}

}  // namespace apgas::inline v0
