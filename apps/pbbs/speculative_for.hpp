// SPDX-License-Identifier: Apache-2.0
#pragma once

// Deterministic reservations (Blelloch, Fineman, Gibbons, Shun: "Internally deterministic parallel
// algorithms can be fast", PPoPP 2012): a parallel loop whose result is that of the serial one. The
// loop goes on in rounds over a prefix of the iterations that are not done. In a round all of them
// first decide, and then commit; those that must wait for an earlier iteration are in the next
// round again.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pbbs {

// The iterations 0 .. n - 1 of `step`, at most n / rounds + 1 of them at a time. `step` has:
//
//   using decision = ...;
//   decision decide(iteration i)          which changes nothing but reservations
//   bool commit(iteration i, decision d)  whether the iteration is done
//
// The first iteration that is not done must always succeed.
using iteration = std::uint32_t;
inline constexpr iteration no_iteration = ~iteration{0};

template <class Loops, class Step>
void speculative_for(const Loops& loops, std::size_t n, std::size_t rounds, Step& step) {
  static_assert(!std::same_as<typename Step::decision, bool>,
                "the elements of std::vector<bool> share words, and tasks write them in parallel");
  const std::size_t most = n / rounds + 1;
  std::vector<iteration> now(most);
  std::vector<iteration> later(most);
  std::vector<typename Step::decision> decisions(most);
  std::size_t retried = 0;
  std::size_t begun = 0;
  while (retried > 0 || begun < n) {
    const std::size_t size = retried + std::min(most - retried, n - begun);
    loops.for_each_uneven(size, [&](std::size_t k) {
      if (k >= retried) now[k] = static_cast<iteration>(begun + k - retried);
      decisions[k] = step.decide(now[k]);
    });
    loops.for_each(size, [&](std::size_t k) {
      if (step.commit(now[k], decisions[k])) now[k] = no_iteration;
    });
    begun += size - retried;
    retried = loops.filter(std::span<const iteration>(now).first(size), std::span(later),
                           [](iteration i) { return i != no_iteration; });
    now.swap(later);
  }
}

}  // namespace pbbs
