// SPDX-License-Identifier: Apache-2.0

// Heat diffusion on a rectangular plate by explicit time steps. Each step halves the plate until a
// strip is at most `leaf` lines wide, as in the example of Cilk 5.4.6. Alternatively the plate is
// in blocks over the places (over_places.cpp).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <apgas/apgas.hpp>

#include "heat/over_places.hpp"
#include "heat/plate.hpp"
#include "support/command_line.hpp"
#include "support/memory.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"

namespace {

using heat::plate;

constexpr int longest_side = 1'000'000;

void advance_in_parallel(plate& p, int step, int first, int last, int leaf) {
  if (last - first <= leaf) return p.advance(step, first, last);
  const int middle = first + (last - first) / 2;
  apgas::fork_join([=, &p] { advance_in_parallel(p, step, first, middle, leaf); },
                   [=, &p] { advance_in_parallel(p, step, middle, last, leaf); });
}

struct options {
  int lines = 1024;
  int columns = 1024;
  int steps = 100;
  int leaf = 10;
  std::string variant = "fork_join";

  // The memory that the places of the host of place 0 need together, in bytes: two copies of the
  // plate at place 0; over places two copies in blocks, and the one that place 0 gathers.
  [[nodiscard]] double bytes(const apps::placement& all) const {
    const double copies = variant == "places" ? 3 + 2 * all.part_on_host() : 2;
    return copies * sizeof(double) * lines * columns;
  }
};

double diffuse(plate& p, const options& o) {
  const apps::stopwatch clock;
  for (int step = 0; step < o.steps; ++step) {
    if (o.variant == "fork_join") {
      advance_in_parallel(p, step, 1, p.lines() + 1, o.leaf);
    } else {
      p.advance(step, 1, p.lines() + 1);
    }
  }
  return clock.seconds();
}

std::int64_t different_points(plate& serial, int steps, const std::vector<double>& found) {
  std::int64_t different = 0;
  auto point = found.begin();
  for (int i = 1; i <= serial.lines(); ++i) {
    const double* const expected = serial.line(steps, i);
    for (int j = 0; j < serial.columns(); ++j) different += *point++ != expected[j] ? 1 : 0;
  }
  return different;
}

int diffuse_and_report(const options& o) {
  plate p(o.lines, o.columns);
  double seconds = diffuse(p, o);
  std::int64_t different = 0;
  if (o.variant == "places") {
    const heat::spread_outcome spread = heat::diffuse_over_places(o.lines, o.columns, o.steps);
    seconds = spread.seconds;
    different = different_points(p, o.steps, spread.points);
  }
  const double error = p.largest_error(o.steps);
  const bool verified = heat::small_error(error, o.steps) && different == 0;
  return apps::report("heat", seconds, verified,
                      {{"variant", o.variant},
                       {"lines", o.lines},
                       {"columns", o.columns},
                       {"steps", o.steps},
                       {"different", different},
                       {"error", error}});
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  apps::command_line line("heat", "Diffuses heat on a rectangular plate.");
  line.option("--lines", o.lines, 1, longest_side,
              "lines of the plate, which are divided among tasks");
  line.option("--columns", o.columns, 1, longest_side, "points of a line");
  line.option("--steps", o.steps, 0, 1'000'000, "time steps");
  line.option("--leaf", o.leaf, 1, longest_side, "lines of a strip that is not divided");
  line.choice("--variant", o.variant, {"fork_join", "places", "serial"}, "how to run the strips");
  if (const auto code = line.parse(argc, argv)) return *code;
  return apgas::run(argc, argv, [&] {
    // The checks are here because the number of places is known only here.
    if (o.variant == "places" && std::min(o.lines, o.columns) < apgas::num_places()) {
      return line.refuse("--variant places: fewer lines, or fewer columns, than places");
    }
    if (const auto problem = apps::beyond_memory(o.bytes(apps::placement_of_job()));
        !problem.empty()) {
      return line.refuse("--lines, --columns: " + problem + "; choose a smaller plate");
    }
    return diffuse_and_report(o);
  });
}
