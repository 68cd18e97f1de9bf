// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The lifeline graph of glb: the cyclic hypercube of Saraswat et al. (PPoPP 2011).
//
// The number of a place is written with digits to a base, the radix. The lifelines of a place are
// places whose number differs from its own in one digit: in each digit the next one, cyclically,
// for which there is a place; at most one for each digit. So with P places a place has about log P
// lifelines, and as many inverse lifelines: the places whose lifeline it is.
//
// Invariants
//   G1  Inverse lifelines are the reverse of lifelines: both follow the same cycles, in opposite
//       directions.
//   G2  There is a path from each place to each other one, with at most radix - 1 steps for each
//       digit: down to 0, by setting digits to 0 from the last one on, where each number on the way
//       is smaller and therefore a place; and up from 0, by setting the digits of the target from
//       the first one on. So work can reach every waiting place.
namespace apgas::inline v0::remote {

class lifeline_graph {
 public:
  // Requires: places >= 1, radix >= 2.
  lifeline_graph(int places, int radix) noexcept : places_(places), radix_(radix) {}

  // Calls f(q) for each lifeline q of place p; or for each inverse lifeline.
  // Cost: log P.
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
  // The next place after p that differs from it in the digit at `stride`, in steps of `step`; p if
  // there is none.
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
