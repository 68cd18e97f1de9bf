// SPDX-License-Identifier: Apache-2.0

// What barriers and reductions of tasks cost, in the manner of EPCC's syncbench, beside
// std::barrier, pthread_barrier, OpenMP, Boost.Fiber and Java's Phaser, which run in turn with
// ours. Prints tables; --json writes a file for compare.py. See docs/performance.md.

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "options.hpp"
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

struct options : bench::run_options {
  bool without_peers = false;
  std::vector<int> members;
  std::vector<std::string> only;
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

// The requirement of the project for 512 tasks: our fastest variant, relative to the fastest peer.
void add_demands(std::vector<bench::demand>& to, const bench::finding& f) {
  if (!f.what.name.ends_with("N = 512")) return;
  for (const int workers : bench::worker_counts()) {
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

int run_benchmarks(const options& o, const bench::apgas_runner& runner) {
  bench::run_report report("sync_bench", o);
  report.note("clock", "wall");
  report.note("left_out", bench::missing_peers());
  for (const std::string& note : bench::missing_peers()) std::printf("note: %s\n", note.c_str());
  std::vector<bench::demand> demands;
  for (const entry& e : entries) {
    if (!o.only.empty() && std::ranges::find(o.only, e.name) == o.only.end()) continue;
    for (bench::benchmark& b : e.make(sizes_of(o))) {
      if (o.without_peers) {
        std::erase_if(b.variants, [](const auto& v) { return v.is == bench::role::peer; });
      }
      const auto found = bench::measure(b, o.rounds(), runner);
      report.add(found);
      add_demands(demands, found);
    }
  }
  return report.end(demands);
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  std::vector<std::string> names;
  for (const entry& e : entries) names.push_back(e.name);
  CLI::App app("Barriers, reductions and clocked tasks within a place, beside peers");
  bench::add_options(app, o);
  bench::add_workers_option(app);
  app.add_flag("--without-peers", o.without_peers, "ours only");
  app.add_option("--only", o.only, "benchmarks to run")->check(CLI::IsMember(names));
  app.add_option("--members", o.members, "tasks at the barrier, or spawned in a round")
      ->check(CLI::Range(2, 1 << 20));
  CLI11_PARSE(app, argc, argv);
  return run_benchmarks(o, bench::one_place(argc, argv));
}
