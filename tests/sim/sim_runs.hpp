// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the tests of all simulations do: they run many seeds, every order of many small programs,
// and every fault. A run returns what is wrong, or "".

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include <gtest/gtest.h>

#include "sim_choice.hpp"

namespace sim {

inline std::uint64_t from_environment(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): one thread
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// ---- seeds --------------------------------------------------------------------------------------

// Calls run(seed) for all seeds from `first` to `last`. Returns "seed n: ..." for the first seed
// that fails, or "".
template <class Run>
std::string first_wrong_seed(std::uint64_t first, std::uint64_t last, Run run) {
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const std::string wrong = run(seed);
    if (!wrong.empty()) return "seed " + std::to_string(seed) + ": " + wrong;
  }
  return "";
}

// The seeds that a test runs: one if APGAS_TEST_SEED=n is set, n if APGAS_TEST_SEEDS=n is set.
struct seeds_wanted {
  explicit seeds_wanted(std::uint64_t usual)
      : only(from_environment("APGAS_TEST_SEED", 0)),
        first(only != 0 ? only : 1),
        last(only != 0 ? only : from_environment("APGAS_TEST_SEEDS", usual)) {}

  std::uint64_t count() const { return last - first + 1; }

  std::uint64_t only;  // the single seed to run; 0: all from first to last
  std::uint64_t first;
  std::uint64_t last;
};

// ---- every order --------------------------------------------------------------------------------

// APGAS_TEST_STRIDE=n runs every n-th program only, for slow builds.
inline std::uint64_t stride_wanted() { return from_environment("APGAS_TEST_STRIDE", 1); }

// APGAS_TEST_THIN=n runs every n-th program of large spaces only. The test labelled `long` runs
// all.
inline std::uint64_t thinned(std::uint64_t usual) {
  return from_environment("APGAS_TEST_THIN", usual);
}

struct totals {
  std::size_t programs = 0;  // programs whose orders were all explored
  std::size_t runs = 0;
  std::size_t states = 0;
};

inline std::ostream& operator<<(std::ostream& out, const totals& t) {
  return out << t.programs << " programs, " << t.runs << " runs, " << t.states << " states";
}

// Explores all orders of one program, which run(chooser) runs from its start. Returns what is wrong
// with the first order that fails, or "".
template <class Run>
std::string every_order(totals& sum, Run run) {
  every_choice chooser;
  std::string wrong;
  bool more = true;
  while (more && wrong.empty()) {
    wrong = run(chooser);
    ++sum.runs;
    more = chooser.next();
  }
  if (!more) ++sum.programs;
  sum.states += chooser.states();
  return wrong;
}

// Describes what a fault caused, with the number of runs it took.
inline std::string after_runs(const totals& sum, const std::string& wrong) {
  return wrong.empty() ? "" : "after " + std::to_string(sum.runs) + " runs: " + wrong;
}

// Splits a number into digits, each with a base of its own, to enumerate programs.
class digits {
 public:
  explicit digits(std::uint64_t n) : rest_(n) {}
  std::size_t next(std::size_t base) {
    const std::uint64_t d = rest_ % base;
    rest_ /= base;
    return static_cast<std::size_t>(d);
  }
  // Returns whether the number had no further digits; if not, there are fewer programs.
  bool used_up() const { return rest_ == 0; }

 private:
  std::uint64_t rest_;
};

// ---- faults -------------------------------------------------------------------------------------

// find(f) returns where a fault was detected and what it caused, or "".
template <class Fault, class Find>
void expect_every_fault_seen(Find find) {
  for (int i = 1; i < static_cast<int>(Fault::last); ++i) {
    const auto f = static_cast<Fault>(i);
    const std::string seen = find(f);
    EXPECT_NE(seen, "") << name(f) << " was not seen";
    std::cout << name(f) << ": " << seen << std::endl;
  }
}

}  // namespace sim
