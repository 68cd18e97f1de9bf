// SPDX-License-Identifier: Apache-2.0
#include <apgas/scheduler/remedy.hpp>

#include <span>

namespace apgas::inline v0::scheduler {
namespace {

struct rule {
  std::string_view sign;  // a text of the report
  std::string_view remedy;
};

// How a task of a cycle is needed. A phase comes first, since dropping a registration is simple.
constexpr rule of_cycles[] = {
    {"registered on it",
     "drop the clock or phaser before the other wait, or advance it there first"},
    {"has locked it",
     "lock these mutexes in the same order in all tasks, or together by std::scoped_lock"},
    {" of a team", "let all members make the same calls in the same order"},
    {"", "take out one of these waits"},
};

// What tasks wait for if there is no cycle. Constructs come first in which nobody knows who should
// act, since the tasks of other groups may wait for those tasks.
constexpr rule of_groups[] = {
    {" in semaphore::", "look for the task that should have called semaphore::release"},
    {" in latch::", "look for the tasks that should have counted the latch down"},
    {" in channel::send", "look for the task that should have received from the channel"},
    {" in channel::", "look for the task that should have sent to the channel or closed it"},
    {" in condition_variable::",
     "wait with a predicate, since a notification before the wait is lost"},
    {"sync_var::write", "look for the task that should have emptied the sync_var"},
    {"sync_var::", "look for the task that should have written to the sync_var"},
    {"single_var::", "look for the task that should have written to the single_var"},
    {" in when", "look for the section that should have made the condition true"},
    {"the promise made", "look for the task that should have set the promise"},
    {" of a team", "look for the members that have not made the call"},
    {"in a phase of a", "let the tasks that are registered and have not arrived drop or advance"},
    {"mutex::lock", "look for the task that has not unlocked the mutex"},
    {"", "follow from each group which tasks it awaits"},
};

std::string_view first_of(std::span<const rule> rules, std::string_view text) noexcept {
  for (const rule& r : rules) {
    if (text.find(r.sign) != std::string_view::npos) return r.remedy;
  }
  return {};
}

}  // namespace

std::string_view remedy_for(std::string_view report) noexcept {
  const std::size_t cycle = report.find("wait for each other");
  if (cycle == std::string_view::npos) return first_of(of_groups, report);
  const std::string_view from_cycle = report.substr(cycle);
  return first_of(of_cycles, from_cycle.substr(0, from_cycle.find('\n')));
}

}  // namespace apgas::inline v0::scheduler
