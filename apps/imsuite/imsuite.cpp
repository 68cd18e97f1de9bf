// SPDX-License-Identifier: Apache-2.0

// The iterative kernels of IMSuite: simulations of distributed algorithms whose nodes keep in
// lock-step by clocks. See README.md.

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <apgas/apgas.hpp>

#include "imsuite/kernel.hpp"
#include "support/command_line.hpp"
#include "support/report.hpp"

namespace {

using imsuite::kernel;
using imsuite::shape;
using imsuite::variant;

// One thread per node; more would be too many for some systems.
constexpr int most_threads = 4096;

struct options {
  std::string kernel_name;
  std::string sync = "clocks";
  std::string input_file;
  std::string written_file;
  std::string shape_name = "usual";
  int nodes = 0;
  std::int64_t seed = 1;
  int repeat = 1;
};

variant variant_of(const options& o) {
  if (o.sync == "clocks") return variant::clocks;
  return o.sync == "finish" ? variant::finish : variant::baseline;
}

// In the suite a tree is a chain; the other kernels take any network.
shape shape_of(const options& o, bool tree_wanted) {
  if (o.shape_name == "usual") return tree_wanted ? shape::chain : shape::sparse;
  if (o.shape_name == "sparse" && tree_wanted) {
    throw imsuite::input_error(o.kernel_name + ": wanted a tree or a chain, found --shape sparse");
  }
  if (o.shape_name == "sparse") return shape::sparse;
  return o.shape_name == "tree" ? shape::tree : shape::chain;
}

imsuite::input make_input(const kernel& k, const options& o) {
  if (!o.input_file.empty()) {
    if (o.nodes != 0)
      throw imsuite::input_error(
          "--nodes: wanted only without --input, whose file has the number of nodes");
    return imsuite::read_input(o.input_file, k.sections, k.most_nodes);
  }
  const int nodes = o.nodes == 0 ? k.usual_nodes : o.nodes;
  if (nodes > k.most_nodes) {
    throw imsuite::input_error("--nodes: wanted at most " + std::to_string(k.most_nodes) + " for " +
                               o.kernel_name + ", found " + std::to_string(nodes));
  }
  const bool tree_wanted =
      std::ranges::find(k.sections, imsuite::section::parents) != k.sections.end();
  return imsuite::generate_input(k.sections, shape_of(o, tree_wanted), nodes,
                                 static_cast<std::uint64_t>(o.seed));
}

imsuite::input prepare(const kernel& k, const options& o) {
  imsuite::input in = make_input(k, o);
  if (variant_of(o) == variant::baseline && in.nodes > most_threads) {
    throw imsuite::input_error("--sync baseline: wanted at most " + std::to_string(most_threads) +
                               " nodes, a thread each, found " + std::to_string(in.nodes));
  }
  if (!o.written_file.empty()) imsuite::write_input(o.written_file, k.sections, in);
  return in;
}

// Solves the problem, repeatedly if requested. Checks every solution and reports the median time.
int solve_and_report(const kernel& k, const options& o, const imsuite::input& in) {
  std::vector<double> seconds;
  imsuite::outcome last;
  imsuite::complaint wrong;
  while (!wrong && std::cmp_less(seconds.size(), o.repeat)) {
    last = (apgas::num_places() > 1 ? k.solve_over_places : k.solve)(in, variant_of(o));
    seconds.push_back(last.seconds);
    wrong = k.check(in, last.found);
  }
  if (wrong) std::cerr << "imsuite: " << k.name << ": the result is wrong: " << *wrong << '\n';
  std::ranges::nth_element(seconds, seconds.begin() + static_cast<long>(seconds.size() / 2));
  return apps::report("imsuite", seconds[seconds.size() / 2], !wrong,
                      {{"kernel", std::string(k.name)},
                       {"short_name", std::string(k.short_name)},
                       {"sync", o.sync},
                       {"nodes", in.nodes},
                       {"edges", static_cast<std::uint64_t>(in.links.edges())},
                       {"rounds", last.rounds},
                       {"phases", last.phases},
                       {"messages", last.messages},
                       {"repeat", o.repeat}});
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  std::vector<std::string> names;
  for (const kernel* k : imsuite::kernels())
    names.insert(names.end(), {std::string(k->name), std::string(k->short_name)});
  apps::command_line line("imsuite", "IMSuite: distributed algorithms simulated with clocks");
  line.argument("kernel", o.kernel_name, names, "the kernel, by its long or short name");
  line.choice("--sync", o.sync, {"clocks", "finish", "baseline"},
              "how the nodes keep in lock-step");
  line.text("--input", o.input_file, "read the input from this file");
  line.text("--write", o.written_file, "write the input to this file");
  line.option("--nodes", o.nodes, 0, 32768, "size of a generated input; 0: as in the suite");
  line.option("--seed", o.seed, 0, std::numeric_limits<std::int64_t>::max(),
              "seed of a generated input");
  line.choice("--shape", o.shape_name, {"usual", "sparse", "tree", "chain"},
              "shape of generated links");
  line.option("--repeat", o.repeat, 1, 1'000'000,
              "number of repetitions; the time is their median");
  if (const auto code = line.parse(argc, argv)) return *code;

  const kernel& k = *imsuite::find_kernel(o.kernel_name);
  imsuite::input in;
  try {
    in = prepare(k, o);
  } catch (const imsuite::input_error& e) {
    return line.refuse(e.what());
  }
  return apgas::run(argc, argv, [&] {
    // The check is here because the number of places is known only here.
    if (apgas::num_places() > 1 && variant_of(o) == variant::baseline) {
      return line.refuse("--sync baseline: wanted 1 place, found " +
                         std::to_string(apgas::num_places()) + "; clocks and finish take several");
    }
    return solve_and_report(k, o, in);
  });
}
