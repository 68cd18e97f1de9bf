// SPDX-License-Identifier: Apache-2.0
#pragma once

// Common to all models: running a Relacy suite that must hold, and one that must fail because it
// runs on a mutant. A model includes this header before any header of the product.
//
// In the models both the light and the heavy fence are sequentially consistent fences. That a
// compiler barrier and membarrier together behave as such a pair is not checked, but trusted to the
// kernel.

#include <relacy/relacy.hpp>
// Relacy defines these as macros, which breaks `= delete`. The models allocate nothing.
#undef new
#undef delete

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <ostream>
#include <streambuf>

namespace apgas::model {

// Discards all output. A mutant is expected to fail, and its history is long.
class no_output : public std::streambuf {
  int overflow(int c) override { return c == traits_type::eof() ? 0 : c; }
  std::streamsize xsputn(const char*, std::streamsize n) override { return n; }
};

struct outcome {
  bool holds;
  unsigned long interleavings;
};

// Explores all schedules of Suite with at most `bound` preemptions. Unless `quiet`, it prints the
// history of a failure. (It does not use rl::simulate, which would compile two other schedulers
// into every suite.)
template <class Suite>
outcome explore(unsigned bound, bool quiet) {
  using scheduler = rl::context_bound_scheduler<Suite::params::thread_count>;
  static no_output nowhere;
  static std::ostream discarded(&nowhere);
  rl::test_params params;
  params.context_bound = bound;
  params.execution_depth_limit = 4000;
  params.output_stream = quiet ? &discarded : &std::cout;
  params.progress_stream = &discarded;
  rl::ostringstream state;
  const rl::test_result_e result = rl::run_test<Suite, scheduler>(params, state, false);
  const unsigned long interleavings = static_cast<unsigned long>(params.stop_iteration);
  if (result != rl::test_result_success && !quiet) {
    rl::ostringstream again;
    params.initial_state = state.str();
    params.collect_history = true;
    static_cast<void>(rl::run_test<Suite, scheduler>(params, again, true));
  }
  return {result == rl::test_result_success, interleavings};
}

// How a thief steals: it insists at once; asks, and takes later what the owner has granted; or
// asks, and insists later if the owner has granted nothing.
enum class manner { insist, ask, ask_first };
template <class Deque, class Slot>
std::size_t steal(Deque& deque, Slot* out, std::size_t most, manner how) {
  if (how == manner::insist) return deque.steal(out, most, {1, 0}).tasks;
  const std::size_t n = deque.steal(out, most, {1, 10}).tasks;
  return n != 0 ? n : deque.steal(out, most, {how == manner::ask ? 2U : 20U, 10}).tasks;
}

// Explores a scenario of Suite, and prints and returns whether it is correct.
template <class Suite>
bool holds(const char* what, int scenario, unsigned bound) {
  Suite::scenario = scenario;
  const outcome o = explore<Suite>(bound, false);
  std::printf("%-32s %s after %lu interleavings\n", what, o.holds ? "holds" : "IS BROKEN",
              o.interleavings);
  return o.holds;
}

// Explores the scenarios of Suite, which runs on a mutant, first with one preemption, which refutes
// most mutants soon. Prints and returns whether one of them fails, as it must.
template <class Suite>
bool refuted(const char* mutant, int scenarios, unsigned bound) {
  unsigned long total = 0;
  for (unsigned preemptions = 1; preemptions <= bound; ++preemptions) {
    for (Suite::scenario = 0; Suite::scenario < scenarios; ++Suite::scenario) {
      const outcome o = explore<Suite>(preemptions, true);
      total += o.interleavings;
      if (o.holds) continue;
      std::printf("mutant %-32s refuted by scenario %d after %lu interleavings\n", mutant,
                  Suite::scenario, total);
      return true;
    }
  }
  std::printf("mutant %-32s SURVIVES %lu interleavings\n", mutant, total);
  return false;
}

}  // namespace apgas::model
