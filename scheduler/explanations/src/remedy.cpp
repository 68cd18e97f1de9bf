// SPDX-License-Identifier: Apache-2.0
#include <apgas/scheduler/remedy.hpp>

#include <algorithm>

namespace apgas::inline v0::scheduler {
namespace {

// Tasks wait in a construct whose name begins so, or for an object of that kind.
struct remedy_rule {
  std::string_view construct;
  std::string_view kind;
  std::string_view remedy;
};

// Constructs come first in which nobody knows who should act, since the tasks of other groups may
// wait for those tasks.
constexpr remedy_rule remedies[] = {
    {"semaphore::", "", "look for the task that should have called semaphore::release"},
    {"latch::", "", "look for the tasks that should have counted the latch down"},
    {"channel::send", "", "look for the task that should have received from the channel"},
    {"channel::", "", "look for the task that should have sent to the channel or closed it"},
    {"condition_variable::", "",
     "wait with a predicate, since a notification before the wait is lost"},
    {"sync_var::write", "", "look for the task that should have emptied the sync_var"},
    {"sync_var::", "", "look for the task that should have written to the sync_var"},
    {"single_var::", "", "look for the task that should have written to the single_var"},
    {"when", "", "look for the section that should have made the condition true"},
    {"", "promise", "look for the task that should have set the promise"},
    {"a collective of a team", "", "look for the members that have not made the call"},
    {"a phase of a", "", "let the tasks that are registered and have not arrived drop or advance"},
    {"mutex::lock", "", "look for the task that has not unlocked the mutex"},
    {"shared_mutex::lock", "", "look for the task that has not unlocked the mutex"},
};

bool any_waits_in(std::string_view construct, const place_waits& p) noexcept {
  return std::ranges::any_of(p.groups,
                             [&](const auto& g) { return g.construct.starts_with(construct); });
}

bool any_waits_for(std::string_view kind, const place_waits& p) noexcept {
  return std::ranges::any_of(p.graph_tasks, [&](const auto& t) {
    return t.object < p.objects.size() && p.objects[t.object].kind == kind;
  });
}

bool concerns(const remedy_rule& r, const place_waits& p) noexcept {
  return r.kind.empty() ? any_waits_in(r.construct, p) : any_waits_for(r.kind, p);
}

}  // namespace

std::string_view remedy_for(cycle_kind kind) noexcept {
  switch (kind) {
    case cycle_kind::phase:
      return "drop the clock or phaser before the other wait, or advance it there first";
    case cycle_kind::mutex:
      return "lock these mutexes in the same order in all tasks, or together by std::scoped_lock";
    case cycle_kind::collective:
      return "let all members make the same calls in the same order";
    case cycle_kind::none:
    case cycle_kind::other:
      break;
  }
  return "take out one of these waits";
}

std::string_view remedy_for(const std::vector<place_waits>& answers) noexcept {
  for (const remedy_rule& r : remedies) {
    if (std::ranges::any_of(answers, [&](const place_waits& p) { return concerns(r, p); }))
      return r.remedy;
  }
  return "follow from each group which tasks it awaits";
}

}  // namespace apgas::inline v0::scheduler
