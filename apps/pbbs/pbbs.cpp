// SPDX-License-Identifier: Apache-2.0

// Kernels of the Problem Based Benchmark Suite (Shun, Blelloch, Fineman, Gibbons, Kyrola, Simhadri,
// Tangwongsan: "Brief announcement: the Problem Based Benchmark Suite", SPAA 2012), those with
// which Tardieu, Wang and Lin measure "A work-stealing scheduler for X10's task parallelism with
// suspension" (PPoPP 2012). Each kernel is written once, over parallel loops, scans and filters
// (loops.hpp) that this library, OpenMP and oneTBB provide.

#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <apgas/apgas.hpp>

#include "pbbs/breadth_first.hpp"
#include "pbbs/colouring.hpp"
#include "pbbs/graph.hpp"
#include "pbbs/independent_set.hpp"
#include "pbbs/inputs.hpp"
#include "pbbs/kernels_of_sequences.hpp"
#include "pbbs/matching.hpp"
#include "pbbs/sequence.hpp"
#include "pbbs/turns.hpp"
#include "support/command_line.hpp"
#include "support/peer_thread.hpp"
#include "support/peers.hpp"
#include "support/report.hpp"

namespace {

struct options {
  std::string kernel;
  std::string input = "default";
  std::int64_t n = 1'000'000;
  std::string variant = "apgas";
  int repeat = 3;
  bool cpu_clock = false;
};

template <class Kernel, class Input>
std::vector<pbbs::timing> measure(const options& o, apps::peer_thread& peer, Input input) {
  Kernel kernel(std::move(input));
  const auto which =
      o.variant == "all" ? apps::with_built_peers({"serial", "apgas"}) : std::vector{o.variant};
  return pbbs::turns<Kernel>(kernel, peer, o.cpu_clock).run(which, o.repeat);
}

std::vector<pbbs::timing> measure_kernel(const options& o, apps::peer_thread& peer) {
  const auto n = static_cast<std::size_t>(o.n);
  const auto sequence = [&] { return pbbs::make_sequence(o.input, n); };
  const auto graph = [&] { return pbbs::make_graph(o.input, n); };
  if (o.kernel == "scan") return measure<pbbs::scan_kernel>(o, peer, sequence());
  if (o.kernel == "pack") return measure<pbbs::pack_kernel>(o, peer, sequence());
  if (o.kernel == "filter") return measure<pbbs::filter_kernel>(o, peer, sequence());
  if (o.kernel == "sort") return measure<pbbs::sort_kernel>(o, peer, sequence());
  if (o.kernel == "mis") return measure<pbbs::independent_set_kernel>(o, peer, graph());
  if (o.kernel == "matching") return measure<pbbs::matching_kernel>(o, peer, graph());
  if (o.kernel == "colouring") return measure<pbbs::colouring_kernel>(o, peer, graph());
  return measure<pbbs::breadth_first_kernel>(o, peer, graph());
}

// The last line has the seconds of the variant; of all of them, those of this library, and beside
// them those of each one.
int measure_and_report(const options& o, apps::peer_thread& peer) {
  const auto timings = measure_kernel(o, peer);
  double seconds = 0;
  bool correct = true;
  apps::figures figures = {{"kernel", o.kernel}, {"input", o.input},   {"variant", o.variant},
                           {"n", o.n},           {"repeat", o.repeat}, {"cpu_clock", o.cpu_clock}};
  for (const pbbs::timing& each : timings) {
    correct = correct && each.correct;
    if (each.variant == o.variant || each.variant == "apgas") seconds = each.seconds;
    if (o.variant != "all") continue;
    std::cout << std::left << std::setw(8) << each.variant << std::right << std::fixed
              << std::setprecision(3) << std::setw(12) << each.seconds * 1e3 << " ms"
              << (each.correct ? "" : "   wrong") << '\n';
    figures.emplace_back(each.variant + "_seconds", each.seconds);
  }
  return apps::report("pbbs", seconds, correct, figures);
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  apps::command_line line("pbbs", "Kernels of the Problem Based Benchmark Suite.");
  line.argument("kernel", o.kernel,
                {"scan", "pack", "filter", "sort", "mis", "matching", "colouring", "bfs"},
                "mis: maximal independent set; matching: maximal matching");
  line.choice("--input", o.input,
              {"default", "random", "exponential", "trigrams", "rmat", "grid3d", "local"},
              "a sequence for scan, pack, filter and sort; a graph (rmat, grid3d, local) for the "
              "others; default: random or rmat");
  line.option("-n,--size", o.n, 1, 1'000'000'000'000, "elements, or vertices");
  apps::declare_variant(line, o.variant, {"apgas", "serial", "all"},
                        "which implementation; all: each in turn");
  line.option("--repeat", o.repeat, 1, 10'000, "runs of each variant; the least time counts");
  line.flag("--cpu-clock", o.cpu_clock,
            "measure the processor time of all threads rather than elapsed time");
  if (const auto code = line.parse(argc, argv)) return *code;
  if (o.input == "default") o.input = pbbs::takes_graph(o.kernel) ? "rmat" : "random";
  const std::string wrong = pbbs::wrong_input(o.kernel, o.input, o.n);
  if (!wrong.empty()) return line.refuse(wrong);
  apps::peer_thread peer;
  return apgas::run(argc, argv, [&] { return measure_and_report(o, peer); });
}
