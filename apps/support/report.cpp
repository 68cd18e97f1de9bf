// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <iostream>

#include <nlohmann/json.hpp>

#include <apgas/apgas.hpp>

#include "support/report.hpp"

namespace apps {

int report(const std::string& app, double seconds, bool verified, const figures& own) {
  return report(app, {apgas::num_places(), apgas::num_workers()}, seconds, verified, own);
}

int report(const std::string& app, const processes& by, double seconds, bool verified,
           const figures& own) {
  nlohmann::ordered_json line = {{"app", app},
                                 {"places", by.places},
                                 {"workers", by.workers},
                                 {"seconds", seconds},
                                 {"verified", verified}};
  for (const auto& [name, value] : own) {
    std::visit([&line, key = name](const auto& v) { line[key] = v; }, value);
  }
  std::cout << line.dump() << '\n' << std::flush;  // flushed, so that the last line is not lost
  if (!std::cout || std::fflush(stdout) != 0) {
    std::cerr << app << ": the output could not be written; is the disk full?\n";
    return 1;
  }
  if (verified) return 0;
  std::cerr << app << ": the result is not the expected one, or could not be checked\n";
  return 1;
}

}  // namespace apps
