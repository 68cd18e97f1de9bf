// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <iostream>

#include <nlohmann/json.hpp>

#include <apgas/apgas.hpp>

#include "support/report.hpp"

namespace apps {

int report(const std::string& app, double seconds, bool verified,
           std::initializer_list<std::pair<std::string, figure>> figures) {
  nlohmann::ordered_json line = {{"app", app},
                                 {"places", apgas::num_places()},
                                 {"workers", apgas::num_workers()},
                                 {"seconds", seconds},
                                 {"verified", verified}};
  for (const auto& [name, value] : figures) {
    std::visit([&line, key = name](const auto& v) { line[key] = v; }, value);
  }
  std::cout << line.dump() << '\n' << std::flush;  // the last line must not be lost
  if (!std::cout || std::fflush(stdout) != 0) {
    std::cerr << app << ": the output could not be written; is the disk full?\n";
    return 1;
  }
  return verified ? 0 : 1;
}

}  // namespace apps
