// SPDX-License-Identifier: Apache-2.0
// The lock that is biased towards one thread. Thread 0 is its owner for a part of the time: it
// takes the lock twice when it has claimed it, and once more when it has given it up, and the
// others take it as well. Checked properties: at most one thread holds the lock, and each holder
// sees what the earlier ones wrote.

// clang-format off: model.hpp comes before every header of the product
#include "model.hpp"
#include <apgas/base/biased_lock.hpp>
#include "biased_mutants.hpp"
// clang-format on

namespace apgas::model {

template <class Owner, class Lock, unsigned Threads>
struct biased_suite : rl::test_suite<biased_suite<Owner, Lock, Threads>, Threads> {
  static inline int scenario = 0;

  Owner owner;
  Lock lock{owner};
  rl::var<int> sections;
  bool held = false;

  void before() { sections($) = 0; }
  void thread(unsigned index) {
    if (index == 0) {
      owner.claim();
      run();
      run();
      owner.give_up();
    }
    run();
  }
  void run() {
    lock.lock();
    RL_ASSERT(!held);
    held = true;
    sections($) = sections($) + 1;
    held = false;
    lock.unlock();
  }
  void after() { RL_ASSERT(sections($) == static_cast<int>(Threads) + 2); }
};

}  // namespace apgas::model

int main() {
  namespace product = apgas::base;
  using namespace apgas::model;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  using pair = biased_suite<product::lock_owner, product::biased_lock, 2>;
  using three = biased_suite<product::lock_owner, product::biased_lock, 3>;
  bool right = holds<pair>("the owner and another thread", 0, 4);
  right &= holds<three>("the owner and two other threads", 0, 2);
#define REFUTE(name)                                                                              \
  right &= refuted<biased_suite<product::name::lock_owner, product::name::biased_lock, 3>>(#name, \
                                                                                           1, 3);
  BIASED_MUTANTS(REFUTE)
  return right ? 0 : 1;
}
