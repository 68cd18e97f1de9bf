// SPDX-License-Identifier: Apache-2.0
#include "strand.hpp"

namespace apgas::inline v0::scheduler {
namespace {

span_ticks since(span_ticks then, span_ticks now) noexcept { return now > then ? now - then : 0; }

}  // namespace

void strand::pause(span_ticks ticks) {
  runs_ = false;
  own_ += ticks;
  paths_.extend(site_, ticks);
}

void strand::open(span_scope& scope) const noexcept {
  scope.begun_at = paths_.longest.length();
  scope.others_then = paths_.longest.in_finishes();
  scope.owner_then = all_work();
}

strand strand::spawn(site_number site, const span_costs& costs) const {
  strand child(site);
  child.paths_ = paths_;
  child.paths_.burdened.burden(site, costs.spawn);
  return child;
}

void strand::end(span_scope& scope) const {
  scope.latest.join(paths_);
  scope.work += all_work();
}

span_ticks strand::join(span_scope& scope, site_number site, const span_costs& costs) {
  join(scope.latest, costs);
  joined_ += scope.work;
  // The path may come from outside the finish, by a future for example, and then have been shorter
  // there than that of the owner.
  path& longest = paths_.longest;
  const span_ticks then = scope.begun_at - scope.others_then;
  longest.add_to_finish(site, since(then, longest.length() - longest.in_finishes()));
  return since(scope.begun_at, longest.length());
}

span_ticks strand::work_of(const span_scope& scope) const noexcept {
  return scope.work + since(scope.owner_then, all_work());
}

void strand::receive(const span_event& event, const span_costs& costs) {
  join(event.latest, costs);
}

void strand::join(const critical_paths& other, const span_costs& costs) {
  paths_.longest.join(other.longest);
  if (other.burdened.length() + costs.resume <= paths_.burdened.length()) return;
  paths_.burdened = other.burdened;
  paths_.burdened.burden(site_, costs.resume);
}

}  // namespace apgas::inline v0::scheduler
