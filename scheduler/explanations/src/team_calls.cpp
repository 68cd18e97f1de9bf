// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <apgas/scheduler/job_report.hpp>

#include "team_calls.hpp"

namespace apgas::inline v0::scheduler {

std::vector<int> team_calls::absent(const place_waits::team& call) const {
  std::vector<int> places;
  for (const int place : call.members) {
    const auto at = calls.find(place);
    if (at == calls.end() || at->second < call.calls) places.push_back(place);
  }
  std::ranges::sort(places);
  return places;
}

std::vector<team_calls> waiting_teams(const std::vector<place_waits>& answers) {
  std::map<std::string, team_calls> by_name;
  for (const place_waits& p : answers) {
    for (const place_waits::team& t : p.teams) {
      team_calls& team = by_name[t.name];
      team.calls[p.place] = t.calls;
      if (t.waits) team.waiting.push_back({p.place, &t});
    }
  }
  std::vector<team_calls> all;
  for (auto& [name, team] : by_name) {
    if (!team.waiting.empty()) all.push_back(std::move(team));
  }
  return all;
}

// Of members that wait in different calls, the last call is told.
std::string missing_members(const std::vector<place_waits>& answers) {
  std::string text;
  for (const team_calls& team : waiting_teams(answers)) {
    const place_waits::team& last =
        *std::ranges::max_element(team.waiting, {}, [](const auto& w) { return w.in->calls; })->in;
    const std::vector<int> absent = team.absent(last);
    if (absent.empty()) continue;
    std::vector<int> waiting;
    waiting.reserve(team.waiting.size());
    for (const auto& w : team.waiting) waiting.push_back(w.place);
    std::ranges::sort(waiting);
    const std::string missing = places_text(absent);
    text += fmt::format("\n{} {} in {} of a team for {}, and {} {} not called it",
                        places_text(waiting), waiting.size() == 1 ? "waits" : "wait", last.call,
                        missing, missing, absent.size() == 1 ? "has" : "have");
  }
  return text;
}

}  // namespace apgas::inline v0::scheduler
