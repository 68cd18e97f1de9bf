// SPDX-License-Identifier: Apache-2.0

// CG and MG of the NAS Parallel Benchmarks, with which Shirako and Sarkar measure phasers
// ("Hierarchical phasers for scalable synchronization and reductions in dynamic parallelism",
// 2010). The members of a program run in lock-step: tasks on a phaser, flat or as a tree, or
// threads of OpenMP with its barrier (support/lock_step.hpp).

#include <string>

#include <apgas/apgas.hpp>

#include "npb/kernel.hpp"
#include "support/command_line.hpp"
#include "support/kernel_outcome.hpp"
#include "support/lock_step.hpp"
#include "support/peer_thread.hpp"

namespace {

struct options {
  std::string kernel;
  std::string size = "S";
  int iterations = 0;
  apps::lock_step how;
};

int run_and_report(const options& o, apps::peer_thread& peer) {
  const apps::task_plan plan{o.how, peer};
  const auto found = o.kernel == "cg" ? npb::run_cg(o.size, o.iterations, plan)
                                      : npb::run_mg(o.size, o.iterations, plan);
  return apps::report("npb", found, o.how, o.kernel, "class", o.size);
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  apps::command_line line("npb", "Kernels of the NAS Parallel Benchmarks, in lock-step.");
  line.argument("kernel", o.kernel, {"cg", "mg"}, "which kernel to run");
  line.choice("--class", o.size, {"S", "W", "A"}, "the size of the problem");
  line.option("--iterations", o.iterations, 0, 1'000'000,
              "iterations; 0: as many as are published");
  o.how.declare(line);
  if (const auto code = line.parse(argc, argv)) return *code;
  if (const std::string wrong = o.how.tree.wrong(); !wrong.empty()) return line.refuse(wrong);
  apps::peer_thread peer;
  return apgas::run(argc, argv, [&] { return run_and_report(o, peer); });
}
