// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <utility>

#include <apgas/scheduler/job_report.hpp>
#include <apgas/scheduler/remedy.hpp>

#include "joined_graph.hpp"

// Tasks that wait for each other although others run: a cycle of true edges.
namespace apgas::inline v0::scheduler {
namespace {

constexpr std::string_view for_ever =
    "\nthis is a deadlock of these tasks: each of them waits for the next one, and nothing else "
    "can let it go on. What to try: ";
constexpr std::string_view where_to_read =
    ". See docs/debugging/hangs.md; APGAS_DEADLOCK=report lets the other tasks run on";
constexpr std::string_view unless_unlocked =
    "\nthey can only go on if another task unlocks what one of them has locked";

}  // namespace

// A cycle inside a place is described by that place.
std::optional<job_report::endless_wait> job_report::find_endless_wait() const {
  const bool with_places = places_ > 1;
  const joined_graph graph(answers_);
  for (const bool certain : {true, false}) {
    std::string sentence = "some tasks wait for each other, whatever other tasks do: ";
    const auto here = std::ranges::find_if(answers_, [certain](const place_waits& p) {
      return !p.cycle.empty() && p.cycle_is_certain == certain;
    });
    cycle_kind kind = cycle_kind::none;
    if (const auto steps = graph.certain_cycle(with_places, !certain); !steps.empty()) {
      sentence += describe_cycle(steps);
      kind = kind_of_cycle(steps);
    } else if (here != answers_.end()) {
      sentence += here->cycle;
      kind = here->kind_of_cycle;
    } else {
      continue;
    }
    sentence += certain ? for_ever : unless_unlocked;
    if (certain) sentence.append(remedy_for(kind)).append(where_to_read);
    return endless_wait{sentence, certain};
  }
  return std::nullopt;
}

}  // namespace apgas::inline v0::scheduler
