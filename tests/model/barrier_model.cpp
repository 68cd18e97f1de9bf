// SPDX-License-Identifier: Apache-2.0
// The barrier that threads share. Two threads announce that they go to sleep, execute the barrier
// and look for work; a third makes work visible, executes the light fence and looks for sleepers.
// Checked property: each sleeper sees the work, or the producer sees that sleeper.

// clang-format off: model.hpp comes before every header of the product
#include "model.hpp"
#include <apgas/base/shared_barrier.hpp>
#include "barrier_mutants.hpp"
// clang-format on

namespace apgas::model {

template <class Barrier>
struct barrier_suite : rl::test_suite<barrier_suite<Barrier>, 3> {
  static inline int scenario = 0;

  Barrier barrier;
  base::atomic<int> work{0};
  base::atomic<int> sleeps[2];
  bool sees_work[2] = {};
  bool sees_sleeper[2] = {};

  void before() {
    for (auto& each : sleeps) each.store(0, base::relaxed);
  }
  void thread(unsigned index) {
    if (index < 2) {
      sleeps[index].store(1, base::relaxed);
      barrier.wait([] { base::heavy_fence(); });
      sees_work[index] = work.load(base::relaxed) != 0;
      return;
    }
    work.store(1, base::relaxed);
    base::light_fence();
    for (int i = 0; i < 2; ++i) sees_sleeper[i] = sleeps[i].load(base::relaxed) != 0;
  }
  void after() {
    for (int i = 0; i < 2; ++i) RL_ASSERT(sees_work[i] || sees_sleeper[i]);
  }
};

}  // namespace apgas::model

int main() {
  using namespace apgas::model;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  bool right = holds<barrier_suite<apgas::base::shared_barrier>>("two that go to sleep", 0, 3);
#define REFUTE(name) \
  right &= refuted<barrier_suite<apgas::base::name::shared_barrier>>(#name, 1, 3);
  BARRIER_MUTANTS(REFUTE)
  return right ? 0 : 1;
}
