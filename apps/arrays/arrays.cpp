// SPDX-License-Identifier: Apache-2.0

// The algorithms of apgas::parallel over a distributed array: a reduction, the least element, a
// histogram, prefix sums and a sort.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <apgas/apgas.hpp>

#include "arrays/input.hpp"
#include "support/command_line.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"

namespace {

using arrays::input;
using array = apgas::dist_array<double>;

namespace parallel = apgas::parallel;

struct options {
  input in{.size = 1'000'000, .seed = 1};
  int rounds = 10;
  std::string operation;
  std::string variant = "places";
};

struct outcome {
  double seconds = 0;  // of all rounds
  bool verified = true;
};

template <class F>
void timed(outcome& o, F f) {
  const apps::stopwatch clock;
  f();
  o.seconds += clock.seconds();
}

// Whether the elements are the prefix sums of the input, at each place.
bool has_prefix_sums(const array& a, const input& in) {
  return std::ranges::all_of(apgas::places(), [&](apgas::place p) {
    return apgas::at(p, [a, in] {
      return a.local().empty() || arrays::are_prefix_sums(in, a.index_of(0), a.local());
    });
  });
}

arrays::summary summary_of(const array& a) {
  arrays::summary whole;
  for (const apgas::place p : apgas::places()) {
    whole.add(apgas::at(p, [a] { return arrays::summary(a.local()); }));
  }
  return whole;
}

outcome over_places(const options& o) {
  const auto in = o.in;
  const std::size_t size = in.count();
  const array a(size, apgas::distribution::block(), [in](std::size_t i) { return in.at(i); });
  const array out(o.operation == "scan" ? size : 0, apgas::distribution::block());
  outcome result;
  for (int round = 0; round < o.rounds; ++round) {
    if (o.operation == "reduce") {
      double sum = 0;
      timed(result, [&] { sum = parallel::reduce(a); });
      if (round == 0) result.verified = sum == sum_of(in);
    } else if (o.operation == "minimum") {
      std::size_t least = 0;
      timed(result, [&] { least = parallel::min_element(a); });
      if (round == 0) result.verified = least == minimum_of(in);
    } else if (o.operation == "histogram") {
      std::vector<std::size_t> counts;
      const auto bucket = [](double x) { return arrays::bucket_of(x); };
      timed(result, [&] { counts = parallel::histogram(a, arrays::buckets, bucket); });
      if (round == 0) result.verified = counts == histogram_of(in);
    } else if (o.operation == "scan") {
      timed(result, [&] { parallel::inclusive_scan(a, out); });
    } else {
      if (round > 0) forall(a, [in](std::size_t i, double& x) { x = in.at(i); });
      timed(result, [&] { parallel::sort(a); });
    }
  }
  if (o.operation == "scan") result.verified = has_prefix_sums(out, in);
  if (o.operation == "sort") result.verified = summary_of(a).is_sorted_form_of(in);
  a.destroy();
  out.destroy();
  return result;
}

outcome serially(const options& o) {
  const input& in = o.in;
  std::vector<double> a = in.all();
  std::vector<double> out(o.operation == "scan" ? a.size() : 0);
  outcome result;
  for (int round = 0; round < o.rounds; ++round) {
    if (o.operation == "reduce") {
      double sum = 0;
      timed(result, [&] { sum = std::reduce(a.begin(), a.end()); });
      if (round == 0) result.verified = sum == sum_of(in);
    } else if (o.operation == "minimum") {
      auto least = a.begin();
      timed(result, [&] { least = std::ranges::min_element(a); });
      if (round == 0) {
        result.verified = static_cast<std::size_t>(least - a.begin()) == minimum_of(in);
      }
    } else if (o.operation == "histogram") {
      std::vector<std::size_t> counts(arrays::buckets);
      timed(result, [&] {
        for (const double x : a) ++counts[arrays::bucket_of(x)];
      });
      if (round == 0) result.verified = counts == histogram_of(in);
    } else if (o.operation == "scan") {
      timed(result, [&] { std::inclusive_scan(a.begin(), a.end(), out.begin()); });
    } else {
      if (round > 0) a = in.all();
      timed(result, [&] { std::ranges::sort(a); });
    }
  }
  if (o.operation == "scan") result.verified = are_prefix_sums(in, 0, out);
  if (o.operation == "sort") result.verified = arrays::summary(a).is_sorted_form_of(in);
  return result;
}

int run_and_report(const options& o) {
  const outcome result = o.variant == "serial" ? serially(o) : over_places(o);
  return apps::report("arrays", result.seconds, result.verified,
                      {{"operation", o.operation},
                       {"variant", o.variant},
                       {"elements", o.in.size},
                       {"rounds", o.rounds},
                       {"ms_each", result.seconds * 1e3 / o.rounds}});
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  apps::command_line line("arrays", "Runs an algorithm over a distributed array.");
  line.argument("operation", o.operation, arrays::operations(), "which algorithm to run");
  line.option("-n,--elements", o.in.size, 1, arrays::most_elements, "number of elements");
  line.option("--rounds", o.rounds, 1, 1'000'000, "how many times the algorithm runs");
  line.option("--seed", o.in.seed, 0, 1'000'000'000, "seed of the elements");
  line.choice("--variant", o.variant, {"places", "serial"},
              "over all places, or the algorithm of std at one place");
  if (const auto code = line.parse(argc, argv)) return *code;
  return apgas::run(argc, argv, [&] { return run_and_report(o); });
}
