// SPDX-License-Identifier: Apache-2.0

// The algorithms of apgas::parallel beside those of std, with and without std::execution::par, on
// the same numbers in the same run. Prints tables; --json writes a file for compare.py. See
// docs/performance.md.

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "algorithm_data.hpp"
#include "options.hpp"
#include "report.hpp"

namespace bench {

algorithm_data::algorithm_data(std::size_t n)
    : input(n), reals(n), work(n), output(n), counts(256) {
  std::mt19937 random(42);
  std::uniform_int_distribution<int> number(0, 1 << 30);
  std::uniform_int_distribution<int> small(0, 1000);
  for (int& x : input) x = number(random);
  for (double& x : reals) x = small(random);
  halves = input;
  const auto middle = halves.begin() + static_cast<std::ptrdiff_t>(n / 2);
  std::sort(halves.begin(), middle);
  std::sort(middle, halves.end());
}

benchmark algorithm_benchmark(const std::string& name, const std::shared_ptr<algorithm_data>& data,
                              const algorithm_calls& calls) {
  benchmark b{name, "element", static_cast<double>(data->input.size()), 0, {}};
  const auto run = [data, calls](const algorithm_calls::call& call, double& seconds) {
    if (calls.in_place) {
      std::copy(data->input.begin(), data->input.end(), data->work.begin());
    } else {
      std::fill(data->output.begin(), data->output.end(), 0);
    }
    data->result = 0;
    const double begin = now();
    call(*data);
    seconds = now() - begin;
    return calls.digest(*data);
  };
  double ignored = 0;
  const std::uint64_t expected = run(calls.serial, ignored);
  const auto add = [&](const std::string& variant_name, role is, int workers,
                       const algorithm_calls::call& call) {
    b.variants.push_back({variant_name, is, workers, [run, call, expected] {
                            sample s;
                            s.correct = run(call, s.seconds) == expected;
                            return s;
                          }});
  };
  add("std", role::serial, 1, calls.serial);
  for (const int workers : worker_counts()) {
    add("apgas::parallel", role::ours, workers, calls.ours);
#if defined(BENCH_TBB)
    if (calls.parallel_std) {
      const auto par = [call = calls.parallel_std, workers](algorithm_data& d) {
        with_tbb(workers, [&call](algorithm_data* to) {
          call(*to);
          return 0;
        })(&d);
      };
      add("std::execution::par", role::peer, workers, par);
    }
#endif
    if (calls.openmp) add("OpenMP", role::peer, workers, calls.openmp(workers));
  }
  return b;
}

}  // namespace bench

namespace {

struct options : bench::run_options {
  std::size_t elements = 10'000'000;
  bool cpu_clock = false;
  std::vector<std::string> only;
};

int run_benchmarks(const options& o, const bench::apgas_runner& runner) {
  bench::run_report report("algorithm_bench", o);
  const std::size_t n = o.quick ? 300'000 : o.elements;
  report.note("elements", n);
  report.note("clock", o.cpu_clock ? "cpu" : "wall");
  const auto data = std::make_shared<bench::algorithm_data>(n);
  std::vector<bench::named_algorithm> all = bench::algorithms_on_elements();
  for (auto& each : bench::algorithms_of_sorting()) all.push_back(std::move(each));
  for (const auto& [name, calls] : all) {
    if (!o.only.empty() && std::ranges::find(o.only, name) == o.only.end()) continue;
    report.add(bench::measure(bench::algorithm_benchmark(name, data, calls), o.rounds(), runner));
  }
  return report.end({});
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  CLI::App app("Parallel algorithms on ranges, beside those of the standard library");
  bench::add_options(app, o);
  bench::add_workers_option(app);
  app.add_option("--elements", o.elements, "number of elements")
      ->check(CLI::Range(std::size_t{1000}, std::size_t{1} << 30));
  app.add_option("--only", o.only, "algorithms to run");
  app.add_flag("--cpu-clock", o.cpu_clock, "only one worker, by CPU time: for a busy machine");
  CLI11_PARSE(app, argc, argv);
  if (o.cpu_clock) bench::use_cpu_clock();
  return run_benchmarks(o, bench::one_place(argc, argv));
}
