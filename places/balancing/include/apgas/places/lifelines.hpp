// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <apgas/base/assert.hpp>
#include <apgas/base/random.hpp>
#include <apgas/places/lifeline_graph.hpp>

// Who gives work to whom in glb, as one place sees it. A value: it neither locks, nor sends, nor
// knows what work is. Driven by glb_place.hpp, and by tests/sim over thousands of places.
//
// A place whose work has ended *seeks*: it asks a few places at random, and then its lifelines, one
// after the other, until one gives. A lifeline that has none remembers who asked and gives later,
// so the place need not ask again: it is *dormant*, and costs nothing.
//
// Invariants
//   L1  A line of p to v is out if and only if v remembers p, or the ask is on its way or being
//       answered, or a gift of v to p is on its way.
//   L2  A place is remembered at most once at each place.
//   L3  A dormant place has all its lines out.
// At the start home has all the work and all others are dormant, as if they had asked: no message
// is needed for that.
//
// Context: owner, under the lock of its place.
namespace apgas::inline v0::remote {

class lifelines {
 public:
  struct shape {
    int random_victims = 1;
    int radix = 4;
    std::uint64_t seed = 1;
  };
  enum class how : std::uint8_t { nobody, at_random, by_lifeline };
  // Whom to ask. Of nobody, the place is dormant.
  struct question {
    how kind = how::nobody;
    int victim = 0;
  };

  // Requires: 0 <= here, home < places.
  lifelines(int here, int places, int home, const shape& s)
      : here_(here),
        places_(places),
        // Between two places the lifeline is the only victim there is.
        random_victims_(places > 2 ? s.random_victims : 0),
        random_(s.seed + static_cast<std::uint64_t>(here)) {
    const lifeline_graph graph(places, s.radix);
    graph.for_each_lifeline(here, [&](int v) { lifelines_.push_back({v, here != home}); });
    graph.for_each_inverse_lifeline(here, [&](int thief) {
      if (thief != home) remembered_.push_back(thief);
    });
  }

  // ---- without work

  // The work of this place has ended.
  void on_dry() noexcept { asked_ = 0; }

  question next() noexcept {
    if (asked_ < random_victims_) {
      ++asked_;
      const auto others = static_cast<std::uint32_t>(places_ - 1);
      const int v = static_cast<int>(random_.below(others));
      return {how::at_random, v < here_ ? v : v + 1};
    }
    for (lifeline& l : lifelines_) {
      if (l.out) continue;
      l.out = true;
      return {how::by_lifeline, l.to};
    }
    return {};
  }
  // The answer to next(): whether there was work in it.
  void on_answer(const question& asked, bool work) noexcept {
    if (asked.kind == how::by_lifeline && work) draw_in(asked.victim);
  }
  // Work came from a lifeline that had remembered this place; also before its answer.
  void on_lifeline_loot(int from) noexcept { draw_in(from); }

  // ---- with work, or asked for it

  // `thief` has asked by lifeline, and is answered that there is none.
  void remember(int thief) {
    APGAS_ASSERT(std::ranges::find(remembered_, thief) == remembered_.end(),
                 "a place asked a lifeline that remembers it");
    remembered_.push_back(thief);
  }
  std::size_t remembered() const noexcept { return remembered_.size(); }
  // Who has waited longest; it gets a gift now. Requires: remembered() > 0.
  int take_remembered() noexcept {
    const int thief = remembered_.front();
    remembered_.erase(remembered_.begin());
    return thief;
  }

 private:
  friend struct lifelines_test_access;
  struct lifeline {
    int to;
    bool out;
  };

  void draw_in(int from) noexcept {
    const auto l = std::ranges::find(lifelines_, from, &lifeline::to);
    APGAS_ASSERT(l != lifelines_.end() && l->out, "work came along a lifeline that was not out");
    l->out = false;
  }

  int here_;
  int places_;
  int random_victims_;
  int asked_ = 0;  // at random, since the work ended
  base::random_engine random_;
  std::vector<lifeline> lifelines_;
  std::vector<int> remembered_;
};

}  // namespace apgas::inline v0::remote
