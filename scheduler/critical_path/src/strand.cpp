// SPDX-License-Identifier: Apache-2.0
#include "strand.hpp"

namespace apgas::inline v0::scheduler {
namespace {

span_ticks since(span_ticks then, span_ticks now) noexcept { return now > then ? now - then : 0; }

}  // namespace

void strand::pause(span_ticks ticks) {
  runs_ = false;
  own_ += ticks;
  path_.extend(site_, ticks);
}

void strand::open(span_scope& scope) const noexcept {
  scope.begun_at = path_.length();
  scope.others_then = path_.in_finishes();
  scope.owner_then = all_work();
}

strand strand::spawn(site_number site, const span_costs& costs) const {
  strand child(site);
  child.path_ = path_;
  child.path_.burden(costs.spawn);
  return child;
}

void strand::end(span_scope& scope) const {
  scope.latest.join(path_);
  scope.work += all_work();
}

span_ticks strand::join(span_scope& scope, site_number site, const span_costs& costs) {
  join(scope.latest, costs);
  joined_ += scope.work;
  // The path may come from outside the finish, by a future for example, and then have been shorter
  // there than that of the owner.
  const span_ticks then = scope.begun_at - scope.others_then;
  path_.add_to_finish(site, since(then, path_.length() - path_.in_finishes()));
  return since(scope.begun_at, path_.length());
}

span_ticks strand::work_of(const span_scope& scope) const noexcept {
  return scope.work + since(scope.owner_then, all_work());
}

void strand::receive(const span_event& event, const span_costs& costs) {
  join(event.latest, costs);
}

void strand::join(const path& other, const span_costs& costs) {
  path arriving = other;
  arriving.burden(costs.resume);
  path_.join(arriving);
}

}  // namespace apgas::inline v0::scheduler
