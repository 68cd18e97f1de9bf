// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fstream>

#include <fmt/format.h>

#include "report.hpp"

namespace bench {
namespace {

std::string cell(double value, const char* unit = "") {
  return value == -1 ? std::string("-") : fmt::format("{:.2f}{}", value, unit);
}

}  // namespace

bool write_json(const std::string& file, const nlohmann::ordered_json& what) {
  std::ofstream out(file);
  out << what.dump(2) << '\n';
  out.close();
  if (!out) fmt::print(stderr, "cannot write {}\n", file);
  return static_cast<bool>(out);
}

derived derive(const finding& f, const result& r) {
  derived d{.ns_per_operation = r.least() / f.what.operations * 1e9};
  if (const double serial = f.best_serial(); serial > 0) {
    d.speed_up = serial / r.least();
    if (r.of.is != role::serial && r.of.workers == 1) {
      d.cost_ns = (r.least() - serial) / f.what.operations * 1e9;
      if (f.what.serial_calls > 0) {
        d.cost_in_calls = d.cost_ns / (serial / f.what.serial_calls * 1e9);
      }
    }
  }
  if (const result* one = f.find(r.of.name, 1); one != nullptr && r.of.workers != 1) {
    d.over_one_worker = one->least() / r.least();
  }
  return d;
}

void print_table(const finding& f) {
  fmt::print("\n{}: {:.0f} x {}\n", f.what.name, f.what.operations, f.what.operation);
  fmt::print("  {:<30}{:>8}{:>11}{:>11}{:>10}{:>9}{:>9}{:>9}{:>9}\n", "", "workers", "min ms",
             "median ms", "ns/op", "cost ns", "calls", "vs best", "vs 1 w");
  for (const result& r : f.results) {
    const derived d = derive(f, r);
    fmt::print("  {:<30}{:>8}{:>11.3f}{:>11.3f}{:>10.2f}{:>9}{:>9}{:>9}{:>9}{}\n", r.of.name,
               r.of.workers, r.least() * 1e3, r.median() * 1e3, d.ns_per_operation, cell(d.cost_ns),
               cell(d.cost_in_calls), cell(d.speed_up, "x"), cell(d.over_one_worker, "x"),
               r.correct ? "" : "  WRONG RESULT");
  }
  std::fflush(stdout);
}

void print_demands(const std::vector<demand>& demands) {
  fmt::print("\n{:<60}{:>10}{:>10}\n", "demand", "measured", "median");
  for (const demand& d : demands) {
    fmt::print("{:<60}{:>10.2f}{:>10}  {} {:g} {}{}\n", d.what, d.value, cell(d.median),
               d.at_most ? "<=" : ">=", d.bar, d.unit, d.met() ? "" : "  MISSED");
  }
}

nlohmann::ordered_json to_json(const finding& f) {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const result& r : f.results) {
    const derived d = derive(f, r);
    nlohmann::ordered_json one = {{"variant", r.of.name},
                                  {"workers", r.of.workers},
                                  {"min_s", r.least()},
                                  {"median_s", r.median()},
                                  {"ns_per_operation", d.ns_per_operation},
                                  {"correct", r.correct}};
    if (d.cost_ns != -1) one["spawn_cost_ns"] = d.cost_ns;
    if (d.cost_in_calls != -1) one["spawn_cost_calls"] = d.cost_in_calls;
    if (d.speed_up != -1) one["speed_up"] = d.speed_up;
    if (d.over_one_worker != -1) one["over_one_worker"] = d.over_one_worker;
    results.push_back(one);
  }
  return {{"benchmark", f.what.name},
          {"operation", f.what.operation},
          {"operations", f.what.operations},
          {"results", results}};
}

nlohmann::ordered_json to_json(const std::vector<demand>& demands) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const demand& d : demands) {
    all.push_back({{"demand", d.what},
                   {"value", d.value},
                   {d.at_most ? "at_most" : "at_least", d.bar},
                   {"unit", d.unit},
                   {"met", d.met()}});
    if (d.median != -1) all.back()["median"] = d.median;
  }
  return all;
}

run_report::run_report(const std::string& program, const run_options& o)
    : options_(o), file_{{"program", program}, {"label", o.label}} {
  note("machine", describe_machine());
  note("findings", nlohmann::ordered_json::array());
}

void run_report::add(const finding& f) {
  print_table(f);
  file_["findings"].push_back(to_json(f));
  correct_ = correct_ && f.correct();
}

int run_report::end(const std::vector<demand>& demands) {
  if (!options_.quick && !demands.empty()) print_demands(demands);
  const double others = watch_.cores_used_by_others();
  fmt::print("\ncores used by other programs meanwhile: {:.2f}\n", others);
  note("demands", to_json(demands));
  note("cores_used_by_others", others);
  if (!options_.json.empty() && !write_json(options_.json, file_)) return 2;
  if (!correct_) {
    fmt::print(stderr, "{}: a result is wrong\n", file_["program"].get<std::string>());
  }
  return correct_ ? 0 : 1;
}

}  // namespace bench
