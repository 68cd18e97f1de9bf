// SPDX-License-Identifier: Apache-2.0
// What the protocols send at up to 100,000 places, simulated. The results are counts, not times,
// and are the same on every machine. Exits with 1 if a run violates what the protocol's document
// claims. See docs/performance.md.

#include <algorithm>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "machine.hpp"
#include "report.hpp"
#include "scale.hpp"

namespace {

void print_head() {
  fmt::print("{:<14}{:<36}{:>9}{:>10}{:>10}{:>9}{:>9}{:>11}{:>7}{:>9}{:>8}\n", "protocol",
             "program", "places", "tasks", "frames", "home", "other", "bytes", "depth", "balance",
             "cpu s");
}

nlohmann::ordered_json measure(const bench::workload& w, int places, bool& correct) {
  const double begin = bench::process_cpu_seconds();
  const bench::scale_result r = w.run(places);
  const double seconds = bench::process_cpu_seconds() - begin;
  fmt::print("{:<14}{:<36}{:>9}{:>10}{:>10}{:>9}{:>9}{:>11}{:>7}{:>9.2f}{:>8.2f}{}{}\n", w.protocol,
             w.name, places, r.task_frames, r.frames, r.to_home, r.to_other, r.bytes, r.depth,
             r.balance, seconds, r.wrong.empty() ? "" : "  WRONG: ", r.wrong);
  std::cout.flush();
  correct = correct && r.wrong.empty();
  return {{"protocol", w.protocol}, {"program", w.name},  {"places", places},
          {"tasks", r.task_frames}, {"frames", r.frames}, {"to_home", r.to_home},
          {"to_other", r.to_other}, {"bytes", r.bytes},   {"depth", r.depth},
          {"balance", r.balance},   {"seconds", seconds}, {"correct", r.wrong.empty()}};
}

struct options {
  std::vector<int> places = {10, 100, 1'000, 10'000, 100'000};
  bool quick = false;
  std::string only;
  std::string json;
};

int run_workloads(const options& o) {
  bool correct = true;
  nlohmann::ordered_json file = {{"program", "scale_bench"}};
  file["findings"] = nlohmann::ordered_json::array();
  print_head();
  std::vector<bench::workload> all = bench::finish_workloads();
  std::ranges::move(bench::phase_workloads(), std::back_inserter(all));
  std::ranges::move(bench::glb_workloads(), std::back_inserter(all));
  std::ranges::move(bench::team_workloads(), std::back_inserter(all));
  std::ranges::move(bench::end_workloads(), std::back_inserter(all));
  for (const bench::workload& w : all) {
    const std::string name = w.protocol + " " + w.name;
    if (name.find(o.only) == std::string::npos) continue;
    for (const int p : o.places) {
      if (p <= w.most_places) file["findings"].push_back(measure(w, p, correct));
    }
  }
  if (!o.json.empty() && !bench::write_json(o.json, file)) return 2;
  if (!correct) std::cerr << "scale_bench: a run violated what its protocol claims\n";
  return correct ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  CLI::App app("Messages of the protocols by number of places, simulated");
  app.add_flag("--quick", o.quick, "10 to 1,000 places");
  app.add_option("--places", o.places, "the numbers of places")->check(CLI::Range(2, 10'000'000));
  app.add_option("--only", o.only, "only workloads whose protocol or name contains this");
  app.add_option("--json", o.json, "write the findings to this file");
  CLI11_PARSE(app, argc, argv);
  if (o.quick) o.places = {10, 100, 1'000};
  return run_workloads(o);
}
