// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <apgas/base/assert.hpp>
#include <apgas/base/random.hpp>
#include <apgas/places/lifeline_graph.hpp>

// The work-stealing protocol of glb at one place. A value: it does not lock, send, or know what
// work is. glb_place.hpp drives it, and so does tests/sim, over thousands of places.
//
// A place whose work has ended *steals*: it asks a few random places, and then its lifelines one
// after the other, until one gives loot. A lifeline without work remembers the thief and sends loot
// later. When all lifelines have been asked, the place is *dormant*: it need not ask again, and
// costs nothing.
//
// A lifeline is *activated* while the place waits for loot through it.
//
// Invariants
//   L1  The lifeline from p to v is activated if and only if v remembers p, or p's steal request is
//       on its way to v or being answered there, or loot from v to p is on its way.
//   L2  No place remembers another one twice.
//   L3  All lifelines of a dormant place are activated.
//
// At the start the home has all the work. All other places are dormant, as if they had asked
// already; this needs no message.
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
  enum class how : std::uint8_t { nowhere, at_random, by_lifeline };
  // A steal attempt: which place to ask, and how. With `nowhere`, the place is dormant.
  struct attempt {
    how kind = how::nowhere;
    int victim = 0;
  };

  // Requires: 0 <= here, home < places.
  lifelines(int here, int places, int home, const shape& s)
      : here_(here),
        places_(places),
        // With two places, the lifeline is the only possible victim.
        random_victims_(places > 2 ? s.random_victims : 0),
        random_(s.seed + static_cast<std::uint64_t>(here)) {
    const lifeline_graph graph(places, s.radix);
    graph.for_each_lifeline(here, [&](int v) { lifelines_.push_back({v, here != home}); });
    graph.for_each_inverse_lifeline(here, [&](int thief) {
      if (thief != home) remembered_.push_back(thief);
    });
  }

  // ---- for a place without work

  // The work of this place has ended; it begins to steal.
  void on_out_of_work() noexcept { asked_ = 0; }

  // The next steal attempt.
  attempt next() noexcept {
    if (asked_ < random_victims_) {
      ++asked_;
      const auto others = static_cast<std::uint32_t>(places_ - 1);
      const int v = static_cast<int>(random_.below(others));
      return {how::at_random, v < here_ ? v : v + 1};
    }
    for (lifeline& l : lifelines_) {
      if (l.activated) continue;
      l.activated = true;
      return {how::by_lifeline, l.to};
    }
    return {};
  }
  // The reply to a steal attempt; `work` tells whether it brought loot.
  void on_answer(const attempt& asked, bool work) noexcept {
    if (asked.kind == how::by_lifeline && work) deactivate(asked.victim);
  }
  // Loot has come from a lifeline that had remembered this place. It may arrive before the reply to
  // the steal request.
  void on_lifeline_loot(int from) noexcept { deactivate(from); }

  // ---- for a victim

  // Remembers a thief that has asked through its lifeline and gets the reply that there is no work.
  void remember(int thief) {
    APGAS_ASSERT(std::ranges::find(remembered_, thief) == remembered_.end(),
                 "a place asked a lifeline that remembers it already");
    remembered_.push_back(thief);
  }
  // How many thieves are remembered.
  std::size_t remembered() const noexcept { return remembered_.size(); }
  // Removes and returns the thief that has waited longest, which gets loot now.
  // Requires: remembered() > 0.
  int take_remembered() noexcept {
    const int thief = remembered_.front();
    remembered_.erase(remembered_.begin());
    return thief;
  }

 private:
  friend struct lifelines_test_access;
  struct lifeline {
    int to;
    bool activated;
  };

  void deactivate(int from) noexcept {
    const auto l = std::ranges::find(lifelines_, from, &lifeline::to);
    APGAS_ASSERT(l != lifelines_.end() && l->activated,
                 "loot came from a lifeline that was not activated");
    l->activated = false;
  }

  int here_;
  int places_;
  int random_victims_;
  int asked_ = 0;  // random victims asked since the work ended
  base::random_engine random_;
  std::vector<lifeline> lifelines_;
  std::vector<int> remembered_;
};

}  // namespace apgas::inline v0::remote
