// SPDX-License-Identifier: Apache-2.0
#pragma once

// The options of the programs on arrays, and their rounds: a template over the way in which the
// algorithms run. Does not use the library, so that the program in plain MPI (apps/peers) does the
// same.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "arrays/input.hpp"
#include "support/command_line.hpp"
#include "support/memory.hpp"
#include "support/report.hpp"

namespace arrays {

// How many times the memory of a place has the elements of its portion: before and after the
// algorithm, and during a sort.
struct copies {
  int kept;
  int while_sorting;
};

struct options {
  input in{.size = 1'000'000, .seed = 1};
  int rounds = 10;
  std::string operation;

  void declare(apps::command_line& line) {
    line.argument("operation", operation, {"reduce", "minimum", "histogram", "scan", "sort"},
                  "which algorithm to run");
    line.option("-n,--elements", in.size, 1, most_elements, "number of elements");
    line.option("--rounds", rounds, 1, 1'000'000, "how many times the algorithm runs");
    line.option("--seed", in.seed, 0, 1'000'000'000, "seed of the elements");
  }
  // The memory that the places of the host of place 0 need together, in bytes: for their portions,
  // and for the sums of a scan; or for a sort, after which place 0 makes all elements again.
  [[nodiscard]] double bytes(const apps::placement& all, const copies& c) const {
    const double part = all.part_on_host();
    double each = c.kept * part;
    if (operation == "scan") each += part;
    if (operation == "sort") each = std::max(c.while_sorting * part, each + 1);
    return sizeof(double) * static_cast<double>(in.size) * each;
  }
  [[nodiscard]] apps::figures figures(double seconds) const {
    return {{"operation", operation},
            {"elements", in.size},
            {"rounds", rounds},
            {"ms_each", seconds * 1e3 / rounds}};
  }
};

struct outcome {
  double seconds = 0;  // of all rounds
  bool verified = true;
};

// Runs the algorithm of the options in rounds. A `Way` has the elements and these functions:
//
//   typename Way::stopwatch                   measures one round
//   reduce(), minimum(), histogram()          return the result
//   scan(), sort()                            change the elements
//   scan_is_right(in), sort_is_right(in)      check the elements afterwards
//   restore()                                 makes the elements those of the input again
template <class Way>
outcome run(const options& o, Way& way) {
  double sum = 0;
  std::size_t least = 0;
  std::vector<std::size_t> counts;
  outcome result;
  for (int round = 0; round < o.rounds; ++round) {
    if (o.operation == "sort" && round > 0) way.restore();
    const typename Way::stopwatch clock;
    if (o.operation == "reduce") sum = way.reduce();
    if (o.operation == "minimum") least = way.minimum();
    if (o.operation == "histogram") counts = way.histogram();
    if (o.operation == "scan") way.scan();
    if (o.operation == "sort") way.sort();
    result.seconds += clock.seconds();
  }
  if (o.operation == "reduce") result.verified = sum == sum_of(o.in);
  if (o.operation == "minimum") result.verified = least == minimum_of(o.in);
  if (o.operation == "histogram") result.verified = counts == histogram_of(o.in);
  if (o.operation == "scan") result.verified = way.scan_is_right(o.in);
  if (o.operation == "sort") result.verified = way.sort_is_right(o.in);
  return result;
}

}  // namespace arrays
