// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the models share: running a Relacy suite, and saying what must hold and what must not.
// A model includes this before any header of the product.
//
// The light and the heavy fence are sequentially consistent fences here. That the pair of compiler
// barrier and membarrier behaves as such a pair is trusted to the kernel.

#include <relacy/relacy.hpp>
// Relacy makes these macros, which breaks `= delete`; the models allocate nothing.
#undef new
#undef delete

#include <cstdio>
#include <ostream>
#include <streambuf>

namespace apgas::model {

// Discards: a mutant's failure is expected, and its history long.
class no_output : public std::streambuf {
  int overflow(int c) override { return c == traits_type::eof() ? 0 : c; }
  std::streamsize xsputn(const char*, std::streamsize n) override { return n; }
};

struct outcome {
  bool holds;
  unsigned long interleavings;
};

// Explores all schedules of Suite with at most `bound` preemptions.
template <class Suite>
outcome explore(unsigned bound, bool quiet) {
  static no_output nowhere;
  static std::ostream discarded(&nowhere);
  rl::test_params params;
  params.search_type = rl::fair_context_bound_scheduler_type;
  params.context_bound = bound;
  params.execution_depth_limit = 4000;
  params.progress_output_period = 1000000;
  if (quiet) {
    params.output_stream = &discarded;
    params.progress_stream = &discarded;
  }
  const bool holds = rl::simulate<Suite>(params);
  return {holds, static_cast<unsigned long>(params.stop_iteration)};
}

// Whether all suites hold; the history of the first failure is printed.
template <class... Suites>
bool holds(const char* name, unsigned bound) {
  unsigned long total = 0;
  const bool ok = ([&] {
    const outcome o = explore<Suites>(bound, false);
    total += o.interleavings;
    return o.holds;
  }() && ...);
  std::printf("%-34s %s after %lu interleavings\n\n", name, ok ? "holds" : "IS BROKEN", total);
  return ok;
}

// Whether one of the suites fails, as it must: they run on a mutant.
template <class... Suites>
bool refuted(const char* mutant, unsigned bound) {
  unsigned long total = 0;
  int scenario = 0;
  const bool broken = ([&] {
    ++scenario;
    const outcome o = explore<Suites>(bound, true);
    total += o.interleavings;
    return !o.holds;
  }() || ...);
  if (broken) {
    std::printf("mutant %-32s refuted by scenario %d after %lu interleavings\n", mutant, scenario, total);
  } else {
    std::printf("mutant %-32s SURVIVES %lu interleavings\n", mutant, total);
  }
  return broken;
}

}  // namespace apgas::model
