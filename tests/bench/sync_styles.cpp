// SPDX-License-Identifier: Apache-2.0

// Eager and lazy waits compared: phases in which each task works, with as many tasks as workers and
// with more, with the same work for all tasks or more for one of them. An eager wait should be
// faster if the worker has nothing else to do and the other tasks arrive soon; a lazy wait should
// be faster otherwise.

#include <algorithm>
#include <limits>
#include <string>

#include <fmt/format.h>

#include <apgas/apgas.hpp>

#include "sync_benchmarks.hpp"
#include "task_members.hpp"

namespace bench {
namespace {

constexpr int tasks_a_worker = 8;
constexpr int longer = 5;  // the factor for the work of member 0 in an unbalanced load

// The counter stays in a register. In memory, an iteration would take one cycle or five, depending
// on the processor. All callers share one copy of the loop.
[[gnu::noinline]] void burn(long turns) {
  for (long i = 0; i < turns; ++i) asm volatile("" : "+r"(i));
}

// The least of several measurements, since other programs can only make them longer.
long turns_of_a_microsecond() {
  static const long turns = [] {
    constexpr long tried = 1'000'000;
    double least = std::numeric_limits<double>::max();
    for (int i = 0; i < 10; ++i) {
      const double begin = now();
      burn(tried);
      least = std::min(least, now() - begin);
    }
    return static_cast<long>(tried / (least * 1e6));
  }();
  return turns;
}

struct load {
  int workers;
  int members;
  int microseconds;
  bool balanced;

  [[nodiscard]] long turns(int member) const {
    const long times = !balanced && member == 0 ? longer : 1;
    return times * microseconds * turns_of_a_microsecond();
  }
  // The work of all members in a phase, in microseconds.
  [[nodiscard]] int sum() const { return microseconds * (members + (balanced ? 0 : longer - 1)); }
};

template <auto Advance>
sample worked_phases(const load& l, const plan& p) {
  return clock_phases<Advance>(
      p, [&l](int member) { return [turns = l.turns(member)] { burn(turns); }; });
}

// The work of all members, one after another.
sample serial_phases(const load& l, const plan& p) {
  const double begin = now();
  for (long phase = 0; phase < p.phases; ++phase) {
    for (int member = 0; member < l.members; ++member) burn(l.turns(member));
  }
  return {now() - begin, true};
}

benchmark phases_with(const load& l, const sync_sizes& s) {
  const double seconds_a_phase = std::max(1, l.sum()) * 1e-6 / l.workers;
  plan p{l.members, 0, s.budget, s.check_all};
  p.phases = std::max(8L, static_cast<long>(std::min(s.operations / l.members,
                                                     s.seconds_of_work / seconds_a_phase)));
  benchmark b{fmt::format("phase of {} us, {} tasks, {} workers{}", l.microseconds, l.members,
                          l.workers, l.balanced ? "" : ", one longer"),
              "phase",
              static_cast<double>(p.phases),
              0,
              {}};
  if (l.microseconds > 0) {
    b.variants.push_back({"serial", role::serial, 1, [=] { return serial_phases(l, p); }});
  }
  b.variants.push_back({"apgas clock, lazy", role::ours, l.workers,
                        [=] { return worked_phases<&apgas::clock::advance_lazy>(l, p); }});
  b.variants.push_back({"apgas clock, eager", role::ours, l.workers,
                        [=] { return worked_phases<&apgas::clock::advance_eager>(l, p); }});
  return b;
}

}  // namespace

std::vector<benchmark> waiting_styles(const sync_sizes& s) {
  std::vector<benchmark> all;
  for (const int workers : worker_counts()) {
    for (const int members : {workers, workers * tasks_a_worker}) {
      if (members == 1) continue;  // there is no other member to wait for
      for (const int us : s.microseconds) {
        all.push_back(phases_with({workers, members, us, true}, s));
        if (us > 0) all.push_back(phases_with({workers, members, us, false}, s));
      }
    }
  }
  return all;
}

}  // namespace bench
