// SPDX-License-Identifier: Apache-2.0
#pragma once

// Findings as a table to read and as JSON to compare (compare.py), and what a program ends with.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness.hpp"
#include "machine.hpp"

namespace bench {

// What the project asks of itself: `value` must be at most, or at least, `bar`.
struct demand {
  std::string what;
  double value = 0;
  double bar = 0;
  bool at_most = true;
  std::string unit;

  [[nodiscard]] bool met() const { return at_most ? value <= bar : value >= bar; }
};

// What follows from the times of one variant; -1 where it means nothing.
struct derived {
  double ns_per_operation;
  double cost_ns = -1;          // (time - best serial) / operations, at one worker
  double cost_in_calls = -1;    // the same in calls of the serial function
  double speed_up = -1;         // best serial / time
  double over_one_worker = -1;  // time at one worker / time
};
derived derive(const finding& f, const result& r);

void print_table(const finding& f);
void print_demands(const std::vector<demand>& demands);

nlohmann::ordered_json to_json(const finding& f);
nlohmann::ordered_json to_json(const std::vector<demand>& demands);

// False, with a line on stderr: the file cannot be written.
bool write_json(const std::string& file, const nlohmann::ordered_json& what);

// What every program is told; options.hpp.
struct run_options {
  bool quick = false;
  int repetitions = 5;
  std::string json;
  std::string label;

  [[nodiscard]] int rounds() const { return quick ? 1 : repetitions; }
};

// One run of a program, from its making on.
class run_report {
 public:
  run_report(const std::string& program, const run_options& o);

  void note(const std::string& key, const nlohmann::ordered_json& value) { file_[key] = value; }
  // Prints the finding and keeps it for the file.
  void add(const finding& f);
  // Prints what is left and writes the file. The exit code of the program: 1 for a wrong result, 2
  // for a file that cannot be written.
  [[nodiscard]] int end(const std::vector<demand>& demands);

 private:
  state_of_detector watch_;
  run_options options_;
  nlohmann::ordered_json file_;
  bool correct_ = true;
};

}  // namespace bench
