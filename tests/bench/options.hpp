// SPDX-License-Identifier: Apache-2.0
#pragma once

// The common command line of the benchmarks, and the start of apgas with these options.

#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <apgas/apgas.hpp>

#include "harness.hpp"
#include "report.hpp"

namespace bench {

inline void add_options(CLI::App& app, run_options& o) {
  app.add_flag("--quick", o.quick, "small sizes, once: checks results; the times mean nothing");
  app.add_option("--reps", o.repetitions, "repetitions")->check(CLI::Range(1, 1000));
  app.add_option("--json", o.json, "write the findings to this file");
  app.add_option("--label", o.label, "free text for the file, such as `git describe`");
}

// For programs whose variants run with several numbers of workers.
inline void add_workers_option(CLI::App& app) {
  app.add_option_function<std::vector<int>>(
         "--workers", [](std::vector<int> counts) { set_worker_counts(std::move(counts)); },
         "numbers of workers, such as 1,2,4 (default: 1,2)")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024));
}

// The runner for measure(): one place in this process.
inline apgas_runner one_place(int argc, char** argv) {
  return [argc, argv](int workers, const std::function<void()>& body) {
    apgas::config settings;
    settings.places = 1;
    settings.workers = workers;
    if (apgas::run(argc, argv, settings, [&body] { body(); }) != 0) {
      throw std::runtime_error("apgas::run failed");
    }
  };
}

}  // namespace bench
