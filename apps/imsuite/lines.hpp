// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads an input file line by line. An unexpected line throws an input_error that names file and
// line.

#include <fstream>
#include <string>
#include <string_view>

namespace imsuite {

class lines {
 public:
  explicit lines(std::string path);

  int integer(std::string_view wanted, int low, int high);
  // A line with '0' or '1' for each node.
  const std::string& bits(std::string_view wanted, int nodes);
  void separator();
  // Empty lines may follow.
  void end();

  // Refers to the line that was read last.
  [[noreturn]] void refuse(std::string_view wanted, const std::string& found) const;

 private:
  const std::string& next(std::string_view wanted);

  std::string path_;
  std::ifstream file_;
  std::string line_;
  long number_ = 0;
};

}  // namespace imsuite
