// SPDX-License-Identifier: Apache-2.0

// The synchronisation benchmark of EPCC (J. M. Bull: "Measuring synchronisation and scheduling
// overheads in OpenMP", 1999), as in Shirako and Sarkar: "Hierarchical phasers for scalable
// synchronization and reductions in dynamic parallelism" (2010). The overhead of a construct is the
// time of its round less the time of the delay that its members do in the round. The
// implementations of a construct take turns, one repetition of each at a time.

#include <algorithm>
#include <cstddef>
#include <iomanip>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <apgas/apgas.hpp>

#include "epcc/constructs.hpp"
#include "epcc/statistics.hpp"
#include "support/command_line.hpp"
#include "support/peer_thread.hpp"
#include "support/phaser_tree.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"

namespace {

using epcc::implementation;
using epcc::plan;
using epcc::sample;

struct options {
  std::string construct = "all";
  int tasks = 0;
  double delay_us = 0.1;
  double test_ms = 5;
  int repetitions = 20;
  apps::phaser_tree tree;
};

struct measured {
  implementation what;
  int rounds = 1;
  bool correct = true;
  std::vector<double> overheads_us{};
};

class benchmark {
 public:
  benchmark(const options& o, apps::peer_thread& peer)
      : options_(o),
        peer_(peer),
        cores_(apgas::num_workers()),
        members_(o.tasks == 0 ? std::max(2, cores_) : o.tasks),
        delay_(o.delay_us * 1e-6) {
    for (const auto& all : {epcc::by_tasks(), epcc::by_openmp()}) {
      for (const implementation& i : all) {
        if (o.construct == "all" || o.construct == i.construct) list_.push_back({i});
      }
    }
  }

  void run() {
    for (measured& m : list_) choose_rounds(m);
    for (int i = 0; i < options_.repetitions; ++i) {
      const double reference_us = delay_.measured_us();
      for (measured& m : list_) measure(m, reference_us);
    }
  }

  [[nodiscard]] bool correct() const {
    return std::ranges::all_of(list_, [](const measured& m) { return m.correct; });
  }

  void print() const {
    std::cout << std::fixed << std::setprecision(3)
              << "overhead in us: mean, standard deviation, minimum, median\n";
    for (const measured& m : list_) {
      const epcc::summary s = epcc::summarise(m.overheads_us);
      std::cout << std::left << std::setw(10) << m.what.construct << std::setw(8) << m.what.by
                << std::right;
      for (const double x : {s.mean, s.deviation, s.least, s.median}) {
        std::cout << std::setw(12) << x;
      }
      std::cout << (m.correct ? "" : "   wrong") << '\n';
    }
  }

  [[nodiscard]] apps::figures figures() const {
    apps::figures all = {{"construct", options_.construct},
                         {"tasks", members_},
                         {"delay_us", options_.delay_us},
                         {"repetitions", options_.repetitions}};
    for (const measured& m : list_) {
      const epcc::summary s = epcc::summarise(m.overheads_us);
      const std::string name = m.what.construct + "_" + m.what.by;
      all.emplace_back(name + "_min_us", s.least);
      all.emplace_back(name + "_us", s.median);
    }
    return all;
  }

 private:
  // Also the first use of the construct, which creates stacks and threads. A single run may be
  // long because another program had the core, so the fastest of three runs counts.
  void choose_rounds(measured& m) {
    constexpr int most = 1'000'000;
    const double wanted = options_.test_ms * 1e-3;
    const auto long_enough = [&] {
      return run_once(m).seconds >= wanted && run_once(m).seconds >= wanted &&
             run_once(m).seconds >= wanted;
    };
    while (m.rounds < most && !long_enough()) m.rounds *= 2;
  }

  void measure(measured& m, double reference_us) {
    const sample s = run_once(m);
    const std::string& construct = m.what.construct;
    const double rounds =
        static_cast<double>(m.rounds) * epcc::rounds_of_a_repetition(construct, members_);
    const double ideal = reference_us * epcc::delays_of_a_core(construct, members_, cores_);
    m.overheads_us.push_back(s.seconds / rounds * 1e6 - ideal);
  }

  sample run_once(measured& m) {
    const plan p{members_, m.rounds, delay_, options_.tree};
    sample s{};
    if (m.what.by == "openmp") {
      peer_.run([&] { s = m.what.run(p); });
    } else {
      s = m.what.run(p);
    }
    m.correct = m.correct && s.correct;
    return s;
  }

  const options& options_;
  apps::peer_thread& peer_;
  int cores_;
  int members_;
  epcc::delay delay_;
  std::vector<measured> list_;
};

int measure_and_report(const options& o, apps::peer_thread& peer) {
  benchmark b(o, peer);
  const apps::stopwatch watch;
  b.run();
  const double seconds = watch.seconds();
  b.print();
  return apps::report("epcc", seconds, b.correct(), b.figures());
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  apps::command_line line("epcc", "Measures the overhead of barriers, reductions and the like.");
  line.choice("--construct", o.construct,
              {"all", "barrier", "reduction", "parallel", "single", "growing", "changing"},
              "what to measure");
  line.option("--tasks", o.tasks, 0, 4096, "members; 0: one for each worker, and at least 2");
  line.option("--delay-us", o.delay_us, 0.0, 1e6, "the work of a member in a round, in us");
  line.option("--test-ms", o.test_ms, 0.001, 1e5, "the least time of a repetition, in ms");
  line.option("--repetitions", o.repetitions, 1, 10'000, "repetitions of each measurement");
  o.tree.declare(line);
  if (const auto code = line.parse(argc, argv)) return *code;
  if (o.tasks == 1) return line.refuse("--tasks 1: a barrier needs at least 2 members");
  if (const std::string wrong = o.tree.wrong(); !wrong.empty()) return line.refuse(wrong);
  apps::peer_thread peer;
  return apgas::run(argc, argv, [&] { return measure_and_report(o, peer); });
}
