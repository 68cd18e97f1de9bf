// SPDX-License-Identifier: Apache-2.0
#pragma once

// The two policies for several places: how the nodes of a place keep in lock-step among themselves.

#include <apgas/apgas.hpp>
#include <apgas/base/atomic.hpp>

#include "imsuite/places.hpp"
#include "imsuite/steps.hpp"

namespace imsuite {

// By the clock of the places. The tasks of a round have ended when the phase after their last
// advance is over.
class by_clocks_over_places : public over_places {
 public:
  using over_places::over_places;

  template <class... Steps>
  void round(int nodes, const Steps&... steps) {
    round_of(block(nodes), steps...);
  }

  // A task does not stay alive over several rounds; each round spawns new tasks.
  template <class Live, class... Steps>
  void rounds_while(int nodes, const Live& live, const Steps&... steps) {
    rounds_of_living(nodes, live, [&](const auto& living) { round_of(living, steps...); });
  }

 private:
  template <class Nodes, class... Steps>
  void round_of(const Nodes& nodes, const Steps&... steps) {
    const auto body = [this, &steps...](int node) {
      (take(steps, node), ...);
      leave_phase();
    };
    tasks_ = static_cast<int>(nodes.size());
    in_phase_.store(tasks_, apgas::base::relaxed);
    for (const int node : nodes) apgas::clocked_async([&body, node] { body(node); });
    for (int i = 0; i <= advances_in<Steps...>; ++i) apgas::clock::advance_all();
    count_round(tasks_, advances_in<Steps...>);
  }

  template <phase Step>
  void take(const Step& f, int node) {
    f(node);
  }
  void take(lazy_advance, int) {
    leave_phase();
    apgas::clock::advance_all_lazy();
  }
  void take(eager_advance, int) {
    leave_phase();
    apgas::clock::advance_all_eager();
  }
  void take(eager_resume, int) {}  // the end of the task does the same

  // The last task of this place to finish the phase sends all letters. It keeps the phase open
  // meanwhile, so that no task is counted for the next phase yet.
  void leave_phase() {
    if (in_phase_.fetch_sub(1, apgas::base::acq_rel) > 1) return;
    in_phase_.store(tasks_, apgas::base::relaxed);
    send_letters();
  }

  int tasks_ = 0;
  apgas::base::atomic<int> in_phase_ = 0;  // tasks of this place that have not finished the phase
};

// By a finish over the tasks of each phase; only one task of each place is registered on the clock.
class by_finish_over_places : public over_places {
 public:
  using over_places::over_places;

  template <class... Steps>
  void round(int nodes, const Steps&... steps) {
    round_of(block(nodes), steps...);
  }

  template <class Live, class... Steps>
  void rounds_while(int nodes, const Live& live, const Steps&... steps) {
    rounds_of_living(nodes, live, [&](const auto& living) { round_of(living, steps...); });
  }

 private:
  template <class Nodes, class... Steps>
  void round_of(const Nodes& nodes, const Steps&... steps) {
    (take(steps, nodes), ...);
    count_round(static_cast<int>(nodes.size()), advances_in<Steps...>);
  }

  template <phase Step, class Nodes>
  void take(const Step& f, const Nodes& nodes) {
    each_of(nodes, f);
  }
  template <class Word, class Nodes>
  static void take(const Word&, const Nodes&) {}
};

}  // namespace imsuite
