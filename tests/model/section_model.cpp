// SPDX-License-Identifier: Apache-2.0
// The lock of a monitor. Three tasks have a section each, and a task that finds the lock taken
// leaves its section with it. In scenario 1 a holder that has taken sections passes the lock to
// another task before it goes on. Checked properties: every section is run exactly once, sections
// exclude each other, and each sees what the earlier ones and its own task wrote.

// clang-format off: model.hpp comes before every header of the product
#include "model.hpp"
#include <apgas/sync/section_lock.hpp>
#include "section_mutants.hpp"
// clang-format on

namespace apgas::model {

struct section {
  section* next = nullptr;
  rl::var<int> argument;
  int run = 0;
};

template <template <class> class Lock>
struct section_suite : rl::test_suite<section_suite<Lock>, 3> {
  static inline int scenario = 0;

  Lock<section> lock;
  section sections[3];
  std::uint16_t names[6] = {};  // their addresses stand for tasks
  rl::var<int> sum;

  void before() { sum($) = 0; }
  void thread(unsigned index) {
    section& mine = sections[index];
    const std::uint16_t* me = &names[2 * index];
    mine.argument($) = 1;
    if (lock.try_enter(me)) {
      run(mine);
    } else if (!lock.arrive(me, mine)) {
      return;
    }
    RL_ASSERT(sum($) >= 0);  // a holder first reads what the monitor guards
    for (bool passed = scenario == 0; !lock.try_leave(me);) {
      section* s = lock.take_arrived(me);
      if (!passed) lock.pass(me = &names[2 * index + 1]);
      passed = true;
      while (s != nullptr) {
        section* const next = s->next;
        run(*s);
        s = next;
      }
    }
  }
  void run(section& s) {
    sum($) = sum($) + s.argument($);
    ++s.run;
  }
  void after() {
    for (const section& s : sections) RL_ASSERT(s.run == 1);
    RL_ASSERT(sum($) == 3);
    RL_ASSERT(lock.holder() == nullptr);
  }
};

}  // namespace apgas::model

int main() {
  using namespace apgas::model;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  bool right = holds<section_suite<apgas::sync::section_lock>>("three tasks", 0, 3);
  right &= holds<section_suite<apgas::sync::section_lock>>("the lock is passed on", 1, 3);
#define REFUTE(name) right &= refuted<section_suite<apgas::sync::name::section_lock>>(#name, 2, 3);
  SECTION_MUTANTS(REFUTE)
  return right ? 0 : 1;
}
