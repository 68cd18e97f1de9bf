// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the tests of the simulations do alike: many seeds, every order of many small programs, and
// every fault. A run returns what is wrong, or "".

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

// Calls run(seed) from `first` to `last`; "seed n: ..." of the first that is wrong, or "".
template <class Run>
std::string first_wrong_seed(std::uint64_t first, std::uint64_t last, Run run) {
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const std::string wrong = run(seed);
    if (!wrong.empty()) return "seed " + std::to_string(seed) + ": " + wrong;
  }
  return "";
}

// Which seeds a test takes: APGAS_TEST_SEED=n that one alone, APGAS_TEST_SEEDS=n so many.
struct seeds_wanted {
  explicit seeds_wanted(std::uint64_t usual)
      : only(from_environment("APGAS_TEST_SEED", 0)),
        first(only != 0 ? only : 1),
        last(only != 0 ? only : from_environment("APGAS_TEST_SEEDS", usual)) {}

  std::uint64_t count() const { return last - first + 1; }

  std::uint64_t only;  // 0: more than one
  std::uint64_t first;
  std::uint64_t last;
};

// ---- every order --------------------------------------------------------------------------------

// Every n-th program only: APGAS_TEST_STRIDE, for slow builds.
inline std::uint64_t stride_wanted() { return from_environment("APGAS_TEST_STRIDE", 1); }

// Large spaces: every n-th program only, APGAS_TEST_THIN; all of them in the test labelled `long`.
inline std::uint64_t thinned(std::uint64_t usual) {
  return from_environment("APGAS_TEST_THIN", usual);
}

struct totals {
  std::size_t programs = 0;  // of which every order was seen
  std::size_t runs = 0;
  std::size_t states = 0;
};

inline std::ostream& operator<<(std::ostream& out, const totals& t) {
  return out << t.programs << " programs, " << t.runs << " runs, " << t.states << " states";
}

// Walks all orders of one program, which run(chooser) runs from its start.
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

// What a fault caused, with the runs it took to see it.
inline std::string after_runs(const totals& sum, const std::string& wrong) {
  return wrong.empty() ? "" : "after " + std::to_string(sum.runs) + " runs: " + wrong;
}

// A number as digits, each of a base of its own: the n-th of all programs.
class digits {
 public:
  explicit digits(std::uint64_t n) : rest_(n) {}
  std::size_t next(std::size_t base) {
    const std::uint64_t d = rest_ % base;
    rest_ /= base;
    return static_cast<std::size_t>(d);
  }
  // False: there are not so many programs.
  bool used_up() const { return rest_ == 0; }

 private:
  std::uint64_t rest_;
};

// ---- faults -------------------------------------------------------------------------------------

// find(f) says where a fault was seen and what it caused, or "".
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
