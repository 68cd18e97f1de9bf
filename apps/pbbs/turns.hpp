// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs the variants of a kernel in turn, one run of each at a time, and keeps the least time of
// each. Every result is checked.

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <apgas/apgas.hpp>

#include "pbbs/clock.hpp"
#include "pbbs/loops.hpp"
#include "pbbs/peer_loops.hpp"
#include "support/peer_thread.hpp"
#include "support/tbb_arena.hpp"

namespace pbbs {

struct timing {
  std::string variant;
  double seconds;  // the least of all runs
  bool correct;    // all results were
};

template <class Kernel>
class turns {
 public:
  turns(Kernel& kernel, apps::peer_thread& peer, bool cpu_clock)
      : kernel_(kernel), peer_(peer), cpu_clock_(cpu_clock) {}

  // Measures each of `which` `repeat` times. The first result is that of the serial program, which
  // the others are compared with. Context: task; may suspend and resume on another worker.
  std::vector<timing> run(const std::vector<std::string>& which, int repeat) {
    kernel_.clear();
    kernel_.serial();
    const bool serial_correct = kernel_.correct();
    std::vector<timing> all;
    all.reserve(which.size());
    for (const std::string& each : which) {
      all.push_back({each, once(each), serial_correct && kernel_.correct()});
    }
    for (int i = 1; i < repeat; ++i) {
      for (timing& each : all) {
        each.seconds = std::min(each.seconds, once(each.variant));
        each.correct = each.correct && kernel_.correct();
      }
    }
    return all;
  }

 private:
  double once(const std::string& variant) {
    kernel_.clear();
    // The threads of the variant before may spin for a while before they sleep.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (variant == "serial") return timed([this] { kernel_.serial(); });
    if (variant == "apgas") return timed([this] { kernel_.parallel(apgas_loops()); });
    double seconds = 0;
    peer_.run([&, threads = apgas::num_workers()] { seconds = by_peer(variant, threads); });
    return seconds;
  }

  double by_peer([[maybe_unused]] const std::string& variant, [[maybe_unused]] int threads) {
#if defined(_OPENMP)
    if (variant == "openmp") {
      return timed([&] { kernel_.parallel(openmp_loops(threads)); });
    }
#endif
#if defined(APPS_TBB)
    return apps::in_tbb_arena(threads,
                              [&] { return timed([&] { kernel_.parallel(tbb_loops(threads)); }); });
#else
    return 0;
#endif
  }

  template <class F>
  double timed(F f) const {
    const double start = seconds_of(cpu_clock_);
    f();
    return seconds_of(cpu_clock_) - start;
  }

  Kernel& kernel_;
  apps::peer_thread& peer_;
  bool cpu_clock_;
};

}  // namespace pbbs
