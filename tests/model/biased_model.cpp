// SPDX-License-Identifier: Apache-2.0
// The lock that is biased towards one thread. Thread 0 is its owner for a part of the time: it
// takes the lock before it has claimed it, afterwards, and when it has given it up. The others take
// it or try to. Checked properties: at most one thread holds the lock, each holder sees what the
// earlier ones wrote, and the owner gets false when it tries to take what it holds.

// clang-format off: model.hpp comes before every header of the product
#include "model.hpp"
#include <apgas/base/biased_lock.hpp>
#include "biased_mutants.hpp"
// clang-format on

namespace apgas::model {

template <class Owner, class Lock, unsigned Threads>
struct biased_suite : rl::test_suite<biased_suite<Owner, Lock, Threads>, Threads> {
  static inline int scenario = 0;  // 0: the others wait for the lock; 1: they try to take it

  Owner owner;
  Lock lock{owner};
  rl::var<int> sections;
  bool held = false;
  int expected[Threads] = {};

  void before() { sections($) = 0; }
  void thread(unsigned index) {
    if (index == 0) {
      owner.claim();
      run(index, scenario == 0);
      run(index, scenario != 0);
      owner.give_up();
    }
    run(index, scenario == 0);
  }
  void run(unsigned index, bool waits) {
    if (waits) {
      lock.lock();
    } else if (!lock.try_lock()) {
      return;
    }
    RL_ASSERT(!held);
    held = true;
    if (owner.is_this_thread()) RL_ASSERT(!lock.try_lock());
    sections($) = sections($) + 1;
    ++expected[index];
    held = false;
    lock.unlock();
  }
  void after() {
    int all = 0;
    for (const int each : expected) all += each;
    RL_ASSERT(sections($) == all);
  }
};

}  // namespace apgas::model

int main() {
  namespace product = apgas::base;
  using namespace apgas::model;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  using pair = biased_suite<product::lock_owner, product::biased_lock, 2>;
  using three = biased_suite<product::lock_owner, product::biased_lock, 3>;
  bool right = holds<pair>("one other thread waits", 0, 4);
  right &= holds<pair>("one other thread tries", 1, 4);
  right &= holds<three>("two other threads wait", 0, 2);
  right &= holds<three>("two other threads try", 1, 2);
#define REFUTE(name)                                                                              \
  right &= refuted<biased_suite<product::name::lock_owner, product::name::biased_lock, 3>>(#name, \
                                                                                           2, 3);
  BIASED_MUTANTS(REFUTE)
  return right ? 0 : 1;
}
