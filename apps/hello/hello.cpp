// SPDX-License-Identifier: Apache-2.0

// Every place says hello: `at` runs a function at another place and returns its value.

#include <iostream>
#include <string>
#include <vector>

#include <apgas/apgas.hpp>

#include "support/command_line.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"

namespace {

// Contains a string, so it needs a serialize function.
struct greeting {
  int place = -1;
  int workers = 0;
  std::string host;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(place, workers, host);
  }
};

greeting greet() { return {apgas::here().id(), apgas::num_workers(), apgas::here().host()}; }

int hello() {
  const apps::stopwatch clock;
  std::vector<greeting> greetings;
  for (const apgas::place p : apgas::places()) {
    greetings.push_back(apgas::at(p, [] { return greet(); }));
  }
  const double seconds = clock.seconds();

  int workers = 0;
  int next = 0;
  bool verified = true;
  for (const greeting& g : greetings) {
    std::cout << "Hello from place " << g.place << " of " << apgas::num_places() << " on " << g.host
              << " with " << g.workers << (g.workers == 1 ? " worker" : " workers") << '\n';
    verified = verified && g.place == next++ && g.workers >= 1 && !g.host.empty();
    workers += g.workers;
  }
  verified = verified && next == apgas::num_places();
  return apps::report("hello", seconds, verified, {{"workers_in_total", workers}});
}

}  // namespace

int main(int argc, char** argv) {
  apps::command_line line("hello", "Every place says hello.");
  if (const auto code = line.parse(argc, argv)) return *code;
  return apgas::run(argc, argv, hello);
}
