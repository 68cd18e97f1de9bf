// SPDX-License-Identifier: Apache-2.0

// SOR, LUFact and MolDyn of the Java Grande Forum benchmark, with which Shirako and Sarkar measure
// phasers ("Hierarchical phasers for scalable synchronization and reductions in dynamic
// parallelism", 2010). The members of a program run in lock-step: tasks on a phaser, flat or as a
// tree, or threads of OpenMP with its barrier (support/lock_step.hpp).

#include <string>

#include <apgas/apgas.hpp>

#include "jgf/kernel.hpp"
#include "support/command_line.hpp"
#include "support/kernel_outcome.hpp"
#include "support/lock_step.hpp"
#include "support/peer_thread.hpp"

namespace {

struct options {
  std::string kernel;
  std::string size = "A";
  int iterations = 0;
  apps::lock_step how;
};

apps::kernel_outcome run(const options& o, apps::peer_thread& peer) {
  const apps::task_plan plan{o.how, peer};
  if (o.kernel == "sor") return jgf::run_sor(o.size, o.iterations, plan);
  if (o.kernel == "lufact") return jgf::run_lufact(o.size, plan);
  return jgf::run_moldyn(o.size, o.iterations, plan);
}

int run_and_report(const options& o, apps::peer_thread& peer) {
  return apps::report("jgf", run(o, peer), o.how, o.kernel, "size", o.size);
}

std::string what_is_wrong(const options& o) {
  if (o.kernel == "moldyn" && o.size == "C") {
    return "--size C: moldyn has the sizes A and B; choose one of these";
  }
  if (o.kernel == "moldyn" && o.how.tasks > jgf::most_members_of_moldyn) {
    return "--tasks " + std::to_string(o.how.tasks) +
           ": each task of moldyn has a copy of all forces; choose at most " +
           std::to_string(jgf::most_members_of_moldyn);
  }
  if (o.kernel == "lufact" && o.iterations != 0) {
    return "--iterations: lufact solves one system and has no iterations; leave the option out";
  }
  return o.how.tree.wrong();
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  apps::command_line line("jgf", "Kernels of the Java Grande Forum benchmark, in lock-step.");
  line.argument("kernel", o.kernel, {"sor", "lufact", "moldyn"}, "which kernel to run");
  line.choice("--size", o.size, {"A", "B", "C"}, "the size of the problem");
  line.option("--iterations", o.iterations, 0, 1'000'000,
              "sweeps of sor, moves of moldyn; 0: as many as are published");
  o.how.declare(line);
  if (const auto code = line.parse(argc, argv)) return *code;
  if (const std::string wrong = what_is_wrong(o); !wrong.empty()) return line.refuse(wrong);
  apps::peer_thread peer;
  return apgas::run(argc, argv, [&] { return run_and_report(o, peer); });
}
