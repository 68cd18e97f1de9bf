// SPDX-License-Identifier: Apache-2.0
#pragma once

// The policy with clocks, as in the suite: a round is one task per node, all registered on one
// clock.

#include <apgas/apgas.hpp>

#include "imsuite/finish.hpp"
#include "imsuite/one_place.hpp"
#include "imsuite/steps.hpp"

namespace imsuite {

class by_clocks : public at_one_place {
 public:
  template <class... Steps>
  void round(int nodes, Steps... steps) {
    clocked_round(nodes, [steps...](int node) { (take(steps, node), ...); });
    count_round(nodes, advances_in<Steps...>);
  }

  template <class Live, class... Steps>
  void rounds_while(int nodes, Live live, Steps... steps) {
    clocked_round(nodes, [=, this](int node) {
      int rounds = 0;
      for (; live(node); ++rounds) (take(steps, node), ...);
      atomic([this, rounds] { count_task(rounds, advances_in<Steps...>); });
    });
  }

  template <class Phase>
  static void each(int nodes, const Phase& f) {
    by_finish::each(nodes, f);
  }
  template <class Section>
  static void atomic(Section f) {
    apgas::atomic(f);
  }

 private:
  template <class Body>
  static void clocked_round(int nodes, const Body& body) {
    apgas::clocked_finish([&body, nodes] {
      for (int node = 0; node < nodes; ++node) {
        apgas::clocked_async([&body, node] { body(node); });
      }
    });
  }

  template <phase Step>
  static void take(const Step& f, int node) {
    f(node);
  }
  static void take(lazy_advance, int) { apgas::clock::advance_all_lazy(); }
  static void take(eager_advance, int) { apgas::clock::advance_all_eager(); }
  static void take(eager_resume, int) { apgas::clock::resume_all_eager(); }
};

}  // namespace imsuite
