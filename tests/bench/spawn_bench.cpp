// SPDX-License-Identifier: Apache-2.0

// What tasks cost within a place, beside oneTBB, OpenMP tasks and plain calls that do the same work
// in the same run. Prints tables; --json writes a file for compare.py. See docs/performance.md.

#include <algorithm>
#include <string>
#include <vector>

#include "options.hpp"
#include "report.hpp"
#include "spawn_benchmarks.hpp"

namespace {

struct entry {
  std::string name;
  bench::benchmark (*make)(const bench::sizes&);
};

const std::vector<entry> entries = {
    {"fib", bench::fib},
    {"integrate", bench::integrate},
    {"flat", bench::flat},
    {"coroutine", bench::coroutines},
    {"suspend", bench::suspension},
    {"coarse", bench::coarse},
    {"section", bench::sections_alone},
    {"contended", bench::sections_contended},
    {"waiters", bench::sections_beside_waiters},
    {"hand-over", bench::hand_over},
    {"empty-loop", bench::empty_loop},
    {"loop", bench::worked_loop},
    {"uts", bench::uts_tree},
    {"uts-portable", bench::uts_tree_portable},
};

constexpr bench::sizes quick = {.fib = 16,
                                .coroutine_fib = 12,
                                .integrate_to = 10,
                                .flat_tasks = 10'000,
                                .rounds_of_suspensions = 20,
                                .coarse_milliseconds = 1,
                                .sections = 1'600,
                                .loop_iterations = 100'000,
                                .worked_iterations = 1'000,
                                .uts_depth = 5};

struct options : bench::run_options {
  bool large = false;
  bool cpu_clock = false;
  std::vector<std::string> only;
};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const entry& e : entries) all.push_back(e.name);
  return all;
}

// The requirements of the project, checked against the measurements. Those for two workers need
// wall-clock time.
void add_demands(std::vector<bench::demand>& to, const std::string& name, const bench::finding& f,
                 bool two_workers) {
  const auto ns = [&f](const std::string& variant, int workers) {
    return f.find(variant, workers)->least() / f.what.operations * 1e9;
  };
  const auto seconds = [&f](const std::string& variant, int workers) {
    return f.find(variant, workers)->least();
  };
  const double serial = f.best_serial();
  const double serial_ns = serial / f.what.operations * 1e9;
  if (name == "fib") {
    const std::string fork = "apgas fork_join";
    to.push_back({"fork_join, cost of a spawn", ns(fork, 1) - serial_ns, 3.5, true, "ns"});
    to.push_back(
        {"finish/async, cost of a spawn", ns("apgas finish/async", 1) - serial_ns, 8, true, "ns"});
    if (two_workers) {
      to.push_back(
          {"fork_join, 2 workers over 1", seconds(fork, 1) / seconds(fork, 2), 1.8, false, "x"});
    }
  } else if (name == "integrate" && two_workers) {
    to.push_back({"integrate, a task per interval, 2 workers over serial",
                  serial / seconds("apgas fork_join", 2), 1.7, false, "x"});
    to.push_back({"integrate, tasks for 10 levels, 2 workers over serial",
                  serial / seconds("apgas fork_join, 10 levels", 2), 1.7, false, "x"});
  } else if (name == "flat") {
    to.push_back({"flat loop, a task at 1 worker", ns("apgas async", 1), 8, true, "ns"});
    if (two_workers) {
      to.push_back({"flat loop, 2 workers over 1",
                    seconds("apgas async", 1) / seconds("apgas async", 2), 1, false, "x"});
    }
  } else if (name == "suspend") {
    const double ready = ns("apgas future, ready before", 1);
    to.push_back({"yield, suspension and resumption", ns("apgas yield", 1), 60, true, "ns"});
    to.push_back(
        {"future, suspension and resumption", ns("apgas future", 1) - ready, 60, true, "ns"});
  } else if (name == "coarse" && two_workers) {
    to.push_back({"8 tasks on 2 workers over an even division",
                  seconds("apgas async", 2) / (serial / 2), 1.01, true, "x"});
  } else if (name == "section") {
    to.push_back({"critical section, uncontended", ns("apgas atomic", 1), 15, true, "ns"});
  } else if (name == "hand-over") {
    to.push_back({"sync_var, hand-over", ns("apgas sync_var", 1), 60, true, "ns"});
  } else if (name.starts_with("uts")) {
    to.push_back({f.what.name + ", 1 worker over serial", seconds("apgas async", 1) / serial, 1.05,
                  true, "x"});
  }
}

int run_benchmarks(const options& o, const bench::apgas_runner& runner) {
  bench::sizes size = o.quick ? quick : bench::sizes{};
  if (o.large) {
    size.fib = 35;
    size.integrate_to = 800;
  }
  bench::run_report report("spawn_bench", o);
  report.note("clock", o.cpu_clock ? "cpu" : "wall");
  std::vector<bench::demand> demands;
  for (const entry& e : entries) {
    if (!o.only.empty() && std::ranges::find(o.only, e.name) == o.only.end()) continue;
    if (o.cpu_clock && e.name == "coarse") continue;  // its tasks wait by wall-clock time
    const auto found = bench::measure(e.make(size), o.rounds(), runner);
    report.add(found);
    if (bench::is_worker_count(1)) {
      add_demands(demands, e.name, found, bench::is_worker_count(2) && !o.cpu_clock);
    }
  }
  return report.end(demands);
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  CLI::App app("Spawning, waiting and suspending within a place, beside peers");
  bench::add_options(app, o);
  bench::add_workers_option(app);
  app.add_flag("--large", o.large,
               "fib(35) and integrate to 800, as the requirements of the project");
  app.add_flag("--cpu-clock", o.cpu_clock, "only one worker, by CPU time: for a busy machine");
  app.add_option("--only", o.only, "benchmarks to run")->check(CLI::IsMember(names()));
  CLI11_PARSE(app, argc, argv);
  if (o.cpu_clock) bench::use_cpu_clock();
  return run_benchmarks(o, bench::one_place(argc, argv));
}
