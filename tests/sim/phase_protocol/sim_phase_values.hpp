// SPDX-License-Identifier: Apache-2.0
#pragma once

// One accumulator at one place, without workers: mirrors sync/accumulator_core.hpp. A value is the
// sorted list of contributions itself. So every result shows a contribution that is lost, counted
// twice, or counted in the wrong phase.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace phase_sim {

using contributions = std::vector<std::int64_t>;

class place_accumulator {
 public:
  // Sends to a cell, or to `ahead_` if s is more than one phase after `now`, the phase of the tree
  // node.
  void send(std::int64_t s, std::int64_t now, std::int64_t x) {
    if (s - now > 1) return ahead_[s].push_back(x);
    cells_[s & 1].push_back(x);
  }

  // ---- at the home

  void phase_ended(std::int64_t p, std::int64_t oldest) {
    forget(oldest);
    results_[p] = reduce(p, true);
  }
  void last_phases_ended(std::int64_t p, std::int64_t oldest) {
    const std::int64_t last = ahead_.empty() ? p : std::max(p, ahead_.rbegin()->first);
    for (; p <= last; ++p) phase_ended(p, oldest);
  }
  void add_part(std::int64_t p, const contributions& part) {
    contributions& all = ahead_[p];
    all.insert(all.end(), part.begin(), part.end());
  }

  // ---- at a replica

  // Removes the partial result of one phase before `first`. The caller repeats this until there is
  // none.
  std::optional<std::pair<std::int64_t, contributions>> take_part(std::int64_t now,
                                                                  std::int64_t first) {
    std::int64_t p = now;
    while (p < first && p <= now + 1 && cells_[p & 1].empty()) ++p;
    if (p >= first || p > now + 1) {
      if (ahead_.empty() || ahead_.begin()->first >= first) return std::nullopt;
      p = ahead_.begin()->first;
    }
    return std::pair{p, reduce(p, p <= now + 1)};
  }
  void set_result(std::int64_t p, std::int64_t oldest, const contributions* value) {
    forget(oldest);
    if (value != nullptr) results_[p] = *value;
  }

  // ---- everywhere

  const contributions* result(std::int64_t p) const {
    const auto found = results_.find(p);
    return found == results_.end() ? nullptr : &found->second;
  }
  // Phases that ended because the last signaller left have no reduction.
  bool ended_before(std::int64_t p) const {
    return !results_.empty() && p > results_.rbegin()->first;
  }
  bool has_unsent() const { return !cells_[0].empty() || !cells_[1].empty() || !ahead_.empty(); }

  // Everything that determines the future behaviour.
  template <class Put>
  void put_state(Put put) const {
    for (const contributions& c : cells_) put(-1, c);
    for (const auto& [p, c] : ahead_) put(p, c);
    put(-2, {});
    for (const auto& [p, c] : results_) put(p, c);
  }

 private:
  void forget(std::int64_t oldest) {
    results_.erase(results_.begin(), results_.lower_bound(oldest - 1));
  }

  contributions reduce(std::int64_t p, bool with_cells) {
    contributions all;
    if (with_cells) all = std::exchange(cells_[p & 1], {});
    if (const auto found = ahead_.find(p); found != ahead_.end()) {
      all.insert(all.end(), found->second.begin(), found->second.end());
      ahead_.erase(found);
    }
    std::sort(all.begin(), all.end());
    return all;
  }

  contributions cells_[2];  // for the current phase of the tree node and for the next
  std::map<std::int64_t, contributions> ahead_;
  std::map<std::int64_t, contributions> results_;
};

}  // namespace phase_sim
