// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Whom a place of glb may wait for: the cyclic hypercube of Saraswat et al. (PPoPP 2011).
//
// The number of a place is written with digits of a base, the radix. Its lifelines are the places
// that differ from it in one digit, by one, cyclically among those that exist; there is at most one
// per digit. So a place has log P lifelines and as many feeders, those whose lifeline it is.
//
// Invariants
//   G1  feeders are the reverse of lifelines: both walk the same cycle, one way and the other.
//   G2  From each place there is a way to each other, of at most (radix - 1) steps per digit: down
//       to 0, by setting digits to 0 from the last on, each a smaller number and so a place; and up
//       from 0, by setting those of the other from the first on. So work reaches whoever waits.
namespace apgas::inline v0::remote {

class lifeline_graph {
 public:
  // Requires: places >= 1, radix >= 2.
  lifeline_graph(int places, int radix) noexcept : places_(places), radix_(radix) {}

  // Calls f(q) for each lifeline q of p, or each place whose lifeline p is. Cost: log P.
  template <class F>
  void for_each_lifeline(int p, F f) const {
    for (std::int64_t stride = 1; stride < places_; stride *= radix_) {
      const int q = along(p, stride, stride);
      if (q != p) f(q);
    }
  }
  template <class F>
  void for_each_inverse_lifeline(int p, F f) const {
    for (std::int64_t stride = 1; stride < places_; stride *= radix_) {
      const int q = along(p, stride, stride * (radix_ - 1));
      if (q != p) f(q);
    }
  }

 private:
  // The next place after p whose digit at `stride` is another, by `step`; p when there is none.
  int along(int p, std::int64_t stride, std::int64_t step) const noexcept {
    const std::int64_t cycle = stride * radix_;
    const std::int64_t base = p - p % cycle;
    std::int64_t q = p;
    do {
      q = base + (q - base + step) % cycle;
    } while (q >= places_);
    return static_cast<int>(q);
  }

  std::int64_t places_;
  std::int64_t radix_;
};

}  // namespace apgas::inline v0::remote
