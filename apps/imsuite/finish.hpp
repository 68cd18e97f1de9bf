// SPDX-License-Identifier: Apache-2.0
#pragma once

// The policy without clocks: a phase is one finish over a task per node, so every phase spawns
// anew.

#include <cstddef>
#include <type_traits>
#include <vector>

#include <apgas/apgas.hpp>

#include "imsuite/one_place.hpp"

namespace imsuite {

class by_finish : public at_one_place {
 public:
  template <class... Steps>
  void round(int nodes, const Steps&... steps) {
    (take(steps, nodes), ...);
    count_round(nodes, advances_in<Steps...>);
  }

  template <class Live, class... Steps>
  void rounds_while(int nodes, const Live& live, const Steps&... steps) {
    std::vector<int> living;
    for (int node = 0; node < nodes; ++node) {
      if (live(node)) living.push_back(node);
    }
    while (!living.empty()) {
      const int tasks = static_cast<int>(living.size());
      round_of(living, steps...);
      count_round(tasks, advances_in<Steps...>);
      std::erase_if(living, [&live](int node) { return !live(node); });
    }
  }

  template <class Phase>
  static void each(int nodes, const Phase& f) {
    apgas::finish([&f, nodes] {
      for (int node = 0; node < nodes; ++node) {
        apgas::async([&f, node] { f(node); });
      }
    });
  }
  template <class Section>
  static void atomic(Section f) {
    apgas::atomic(f);
  }

 private:
  template <class... Steps>
  static void round_of(const std::vector<int>& living, const Steps&... steps) {
    const auto take_living = [&living](const auto& step) {
      if constexpr (phase<std::remove_cvref_t<decltype(step)>>) {
        each(static_cast<int>(living.size()),
             [&](int i) { step(living[static_cast<std::size_t>(i)]); });
      }
    };
    (take_living(steps), ...);
  }

  template <phase Step>
  static void take(const Step& f, int nodes) {
    each(nodes, f);
  }
  template <class Word>
  static void take(const Word&, int) {}
};

}  // namespace imsuite
