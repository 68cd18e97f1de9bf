// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tasks of apgas as the members of a lock_step, on a clock or a phaser.

#include <atomic>
#include <source_location>

#include <apgas/apgas.hpp>

#include "lock_step.hpp"

namespace bench {

// make() makes the clock or phaser, and on_it(it) is the clause that registers a member.
// member_of(it) is called before the members exist; it returns a function whose call with a
// member's number returns that member's step.
template <class Make, class OnIt, class MemberOf>
sample task_phases(const plan& p, Make make, OnIt on_it, MemberOf member_of) {
  lock_step all(p);
  std::atomic<bool> counted{true};
  apgas::finish([&] {
    const auto it = make();
    const auto member = member_of(it);
    for (int number = 0; number < p.members; ++number) {
      apgas::async(on_it(it), [&all, &counted, it, member, number] {
        all.run(number, member(number));
        if (it.phase() != all.phases()) counted = false;
      });
    }
    it.drop();
  });
  sample s = all.result();
  s.correct = s.correct && counted;
  return s;
}

// Members that work, each for itself, and then advance. work_of(number)() is the work of one member
// before it advances.
template <auto Advance, class WorkOf>
sample clock_phases(const plan& p, WorkOf work_of) {
  const auto member_of = [work_of](const apgas::clock& c) {
    return [c, work_of](int number) {
      return [c, work = work_of(number)](long) {
        work();
        (c.*Advance)(std::source_location::current());
        return true;
      };
    };
  };
  return task_phases(
      p, [] { return apgas::clock::make(); },
      [](const apgas::clock& c) { return apgas::clocked(c); }, member_of);
}

}  // namespace bench
