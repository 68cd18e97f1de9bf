// SPDX-License-Identifier: Apache-2.0
#pragma once

// An input file line by line. What is not as wanted throws an input_error that names file and line.

#include <fstream>
#include <string>
#include <string_view>

namespace imsuite {

class lines {
 public:
  explicit lines(std::string path);

  int integer(std::string_view wanted, int low, int high);
  // One of '0' and '1' per node.
  const std::string& bits(std::string_view wanted, int nodes);
  void separator();
  // Empty lines may follow.
  void end();

  // Of the line that was read last.
  [[noreturn]] void refuse(std::string_view wanted, const std::string& found) const;

 private:
  const std::string& next(std::string_view wanted);

  std::string path_;
  std::ifstream file_;
  std::string line_;
  long number_ = 0;
};

}  // namespace imsuite
