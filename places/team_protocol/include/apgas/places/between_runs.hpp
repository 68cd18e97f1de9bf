// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include <apgas/places/team_tree.hpp>

// The messages of a collective whose members use bulletin boards within each run (host_runs.hpp).
// Pure.
namespace apgas::inline v0::remote {

// The steps of a schedule of messages that lead from one run to another. The schedules by hosts
// (member_tree, by_hosts) have such steps only for one member of each run, its head: the root in
// its own run, and the first member in the others. The steps that are left out move data between
// the head and the other members of its run; boards do that before or afterwards. So a member that
// is not the head of its run sends and receives no message.
template <class Schedule>
class between_runs {
 public:
  // `run` is the run of the member whose steps these are.
  between_runs(const span_of& run, Schedule schedule) : run_(run), schedule_(std::move(schedule)) {}

  std::optional<exchange> next() noexcept {
    auto e = schedule_.next();
    while (e && run_.contains(e->to == nobody ? e->from : e->to)) e = schedule_.next();
    return e;
  }

 private:
  span_of run_;
  Schedule schedule_;
};

// The member of a run that exchanges messages with other runs in a collective with this root.
inline std::size_t head_of(const span_of& run, std::size_t root) noexcept {
  return run.contains(root) ? root : run.first;
}

}  // namespace apgas::inline v0::remote
