// SPDX-License-Identifier: Apache-2.0

// The algorithms of apgas::parallel over a distributed array: a reduction, the least element, a
// histogram, prefix sums and a sort.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include <apgas/apgas.hpp>

#include "arrays/input.hpp"
#include "arrays/run.hpp"
#include "support/command_line.hpp"
#include "support/memory.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"

namespace {

using arrays::input;
using arrays::options;

namespace parallel = apgas::parallel;

class over_places {
 public:
  using stopwatch = apps::stopwatch;

  explicit over_places(const options& o)
      : in_(o.in),
        a_(o.in.count(), apgas::distribution::block(),
           [in = o.in](std::size_t i) { return in.at(i); }),
        out_(o.operation == "scan" ? o.in.count() : 0, apgas::distribution::block()) {}

  [[nodiscard]] double reduce() const { return parallel::reduce(a_); }
  [[nodiscard]] std::size_t minimum() const { return parallel::min_element(a_); }
  [[nodiscard]] std::vector<std::size_t> histogram() const {
    return parallel::histogram(a_, arrays::buckets, [](double x) { return arrays::bucket_of(x); });
  }
  void scan() const { parallel::inclusive_scan(a_, out_); }
  void sort() const { parallel::sort(a_); }
  void restore() const {
    forall(a_, [in = in_](std::size_t i, double& x) { x = in.at(i); });
  }

  // At each place, because the elements are there.
  [[nodiscard]] bool scan_is_right(const input& in) const {
    return std::ranges::all_of(apgas::places(), [&](apgas::place p) {
      return apgas::at(p, [a = out_, in] {
        return a.local().empty() || arrays::are_prefix_sums(in, a.index_of(0), a.local());
      });
    });
  }
  [[nodiscard]] bool sort_is_right(const input& in) const {
    arrays::summary whole;
    for (const apgas::place p : apgas::places()) {
      whole.add(apgas::at(p, [a = a_] { return arrays::summary(a.local()); }));
    }
    return whole.is_sorted_form_of(in);
  }
  void destroy() const {
    a_.destroy();
    out_.destroy();
  }

 private:
  using array = apgas::dist_array<double>;
  input in_;
  array a_;
  array out_;
};

class serially {
 public:
  using stopwatch = apps::stopwatch;

  explicit serially(const options& o)
      : in_(o.in), a_(o.in.all()), out_(o.operation == "scan" ? a_.size() : 0) {}

  [[nodiscard]] double reduce() const { return std::reduce(a_.begin(), a_.end()); }
  [[nodiscard]] std::size_t minimum() const {
    return static_cast<std::size_t>(std::ranges::min_element(a_) - a_.begin());
  }
  [[nodiscard]] std::vector<std::size_t> histogram() const {
    std::vector<std::size_t> counts(arrays::buckets);
    for (const double x : a_) ++counts[arrays::bucket_of(x)];
    return counts;
  }
  void scan() { std::inclusive_scan(a_.begin(), a_.end(), out_.begin()); }
  void sort() { std::ranges::sort(a_); }
  void restore() { a_ = in_.all(); }

  [[nodiscard]] bool scan_is_right(const input& in) const { return are_prefix_sums(in, 0, out_); }
  [[nodiscard]] bool sort_is_right(const input& in) const {
    return arrays::summary(a_).is_sorted_form_of(in);
  }

 private:
  input in_;
  std::vector<double> a_;
  std::vector<double> out_;
};

int run_and_report(const options& o, const std::string& variant) {
  arrays::outcome result;
  if (variant == "serial") {
    serially way(o);
    result = arrays::run(o, way);
  } else {
    const over_places way(o);
    result = arrays::run(o, way);
    way.destroy();
  }
  apps::figures figures = o.figures(result.seconds);
  figures.insert(figures.begin() + 1, {"variant", variant});
  return apps::report("arrays", result.seconds, result.verified, figures);
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  std::string variant = "places";
  apps::command_line line("arrays", "Runs an algorithm over a distributed array.");
  o.declare(line);
  line.choice("--variant", variant, {"places", "serial"},
              "over all places, or the algorithm of std at one place");
  if (const auto code = line.parse(argc, argv)) return *code;
  return apgas::run(argc, argv, [&] {
    const apps::placement all = variant == "places" ? apps::placement_of_job() : apps::placement();
    // Both variants keep the elements, and have as many again during a sort.
    const double bytes = o.bytes(all, {.kept = 1, .while_sorting = 2});
    if (const auto problem = apps::beyond_memory(bytes); !problem.empty()) {
      return line.refuse("--elements: " + problem + "; choose fewer");
    }
    return run_and_report(o, variant);
  });
}
