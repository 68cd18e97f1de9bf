// SPDX-License-Identifier: Apache-2.0

// What barriers and reductions of tasks cost, in the manner of EPCC's syncbench, beside
// std::barrier, pthread_barrier, OpenMP, Boost.Fiber and Java's Phaser in turn with ours. Prints
// tables; --json writes what compare.py reads. docs/performance.md.

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <apgas/apgas.hpp>

#include "machine.hpp"
#include "report.hpp"
#include "sync_benchmarks.hpp"
#include "sync_peer_process.hpp"

namespace {

struct entry {
  std::string name;
  std::vector<bench::benchmark> (*make)(const bench::sync_sizes&);
};

const std::vector<entry> entries = {
    {"barrier", bench::barriers},         {"reduction", bench::reductions},
    {"growing", bench::growing_barriers}, {"clocked", bench::clocked_tasks},
    {"style", bench::waiting_styles},
};

struct options {
  bool quick = false;
  bool without_peers = false;
  int repetitions = 5;
  std::vector<int> members;
  std::vector<std::string> only;
  std::string json;
  std::string label;
};

bench::sync_sizes sizes_of(const options& o) {
  bench::sync_sizes s;
  if (o.quick) {
    s.members = {2, 64};
    s.spawned = {64};
    s.microseconds = {0, 1};
    s.operations = 2'000;
    s.seconds_of_work = 0.001;
    s.growing_members = 8;
    s.growing_repeats = 2;
    s.budget = 0.5;
    s.check_all = true;
  }
  if (!o.members.empty()) {
    s.members = o.members;
    s.spawned = o.members;
  }
  return s;
}

// Of 512 tasks, as the project's demands have it: ours that is fastest over the peer that is.
void add_demands(std::vector<bench::demand>& to, const bench::finding& f) {
  if (!f.what.name.ends_with("N = 512")) return;
  for (const int workers : {1, 2}) {
    const auto fastest = [&](bench::role is) {
      double least = 0;
      for (const bench::result& r : f.results) {
        if (r.of.is != is || r.of.workers != workers) continue;
        if (least == 0 || r.least() < least) least = r.least();
      }
      return least;
    };
    const double ours = fastest(bench::role::ours);
    const double peers = fastest(bench::role::peer);
    const std::string at = f.what.name + ", " + std::to_string(workers) + " worker(s)";
    if (peers > 0) to.push_back({at + ", over the fastest peer", ours / peers, 1, true, "x"});
    if (workers == 1 && f.what.name.starts_with("barrier")) {
      to.push_back({at + ", Argobots elsewhere", ours / f.what.operations * 1e9, 63, true, "ns"});
    }
  }
}

void run_apgas(int argc, char** argv, int workers, const std::function<void()>& body) {
  apgas::config settings;
  settings.places = 1;
  settings.workers = workers;
  if (apgas::run(argc, argv, settings, [&body] { body(); }) != 0) {
    throw std::runtime_error("apgas::run failed");
  }
}

int run_benchmarks(const options& o, const bench::apgas_runner& runner) {
  const bench::machine_watch watch;
  nlohmann::ordered_json file = {{"program", "sync_bench"}, {"label", o.label}, {"clock", "wall"}};
  file["machine"] = bench::describe_machine();
  file["notes"] = bench::missing_peers();
  for (const std::string& note : bench::missing_peers()) std::printf("note: %s\n", note.c_str());
  file["findings"] = nlohmann::ordered_json::array();
  std::vector<bench::demand> demands;
  bool correct = true;
  for (const entry& e : entries) {
    if (!o.only.empty() && std::ranges::find(o.only, e.name) == o.only.end()) continue;
    for (bench::benchmark& b : e.make(sizes_of(o))) {
      if (o.without_peers) {
        std::erase_if(b.variants, [](const auto& v) { return v.is == bench::role::peer; });
      }
      const auto found = bench::measure(b, o.quick ? 1 : o.repetitions, runner);
      bench::print_table(found);
      add_demands(demands, found);
      file["findings"].push_back(bench::to_json(found));
      correct = correct && found.correct();
    }
  }
  if (!demands.empty()) bench::print_demands(demands);
  file["demands"] = bench::to_json(demands);
  file["cores_used_by_others"] = watch.cores_used_by_others();
  std::printf("\ncores used by others meanwhile: %.2f\n", watch.cores_used_by_others());
  if (!o.json.empty() && !bench::write_json(o.json, file)) return 2;
  if (!correct) std::cerr << "sync_bench: a variant had a wrong result\n";
  return correct ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  std::vector<std::string> names;
  for (const entry& e : entries) names.push_back(e.name);
  CLI::App app("Barriers, reductions and clocked tasks within a place, beside peers");
  app.add_flag("--quick", o.quick, "small sizes, once, every phase checked: times mean nothing");
  app.add_flag("--without-peers", o.without_peers, "ours only");
  app.add_option("--reps", o.repetitions, "repetitions")->check(CLI::Range(1, 1000));
  app.add_option("--only", o.only, "benchmarks to run")->check(CLI::IsMember(names));
  app.add_option("--members", o.members, "tasks at the barrier, or spawned in a round")
      ->check(CLI::Range(2, 1 << 20));
  app.add_option("--json", o.json, "write the findings to this file");
  app.add_option("--label", o.label, "free text for the file, such as `git describe`");
  CLI11_PARSE(app, argc, argv);
  return run_benchmarks(o, [argc, argv](int workers, const std::function<void()>& body) {
    run_apgas(argc, argv, workers, body);
  });
}
