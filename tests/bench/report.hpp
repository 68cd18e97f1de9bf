// SPDX-License-Identifier: Apache-2.0
#pragma once

// Prints findings as a table, writes them as JSON for compare.py, and determines a program's exit
// code.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness.hpp"
#include "machine.hpp"

namespace bench {

// A requirement of the project: `value`, which is that of the least times, must be at most, or at
// least, `bar`. `median` is the same of the median times, for information; -1 if there is none.
struct demand {
  std::string what;
  double value = 0;
  double bar = 0;
  bool at_most = true;
  std::string unit;
  double median = -1;

  [[nodiscard]] bool met() const { return at_most ? value <= bar : value >= bar; }
};

// Figures derived from the times of one variant; -1 if a figure does not apply.
struct derived {
  double ns_per_operation;
  double cost_ns = -1;          // (time - best serial) / operations, at one worker
  double cost_in_calls = -1;    // the same, in calls of the serial function
  double speed_up = -1;         // best serial / time
  double over_one_worker = -1;  // time at one worker / time
};
derived derive(const finding& f, const result& r);

void print_table(const finding& f);
void print_demands(const std::vector<demand>& demands);

nlohmann::ordered_json to_json(const finding& f);
nlohmann::ordered_json to_json(const std::vector<demand>& demands);

// Returns false, and prints a line to stderr, if the file cannot be written.
bool write_json(const std::string& file, const nlohmann::ordered_json& what);

// The options of every program (options.hpp).
struct run_options {
  bool quick = false;
  int repetitions = 5;
  std::string json;
  std::string label;

  [[nodiscard]] int rounds() const { return quick ? 1 : repetitions; }
};

// One run of a program, from construction on.
class run_report {
 public:
  run_report(const std::string& program, const run_options& o);

  void note(const std::string& key, const nlohmann::ordered_json& value) { file_[key] = value; }
  // Prints the finding and keeps it for the file.
  void add(const finding& f);
  // Prints the summary and writes the file. Returns the program's exit code: 1 for a wrong result,
  // 2 for a file that cannot be written.
  [[nodiscard]] int end(const std::vector<demand>& demands);

 private:
  state_of_detector watch_;
  run_options options_;
  nlohmann::ordered_json file_;
  bool correct_ = true;
};

}  // namespace bench
