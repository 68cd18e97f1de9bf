// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <utility>

#include "recorder.hpp"

// What a frame between places carries: the path of the task that sends it and, if it returns the
// credit of a finish, the longest path of the tasks of that finish which have ended at this place.
namespace apgas::inline v0::scheduler {

void span_recorder::merge(returned_scope& into, span_scope&& more) {
  if (into == nullptr) {
    into = std::make_unique<span_scope>(std::move(more));
    return;
  }
  into->latest.join(more.latest);
  into->work += more.work;
}

// Takes what the next frame about a finish, or the reply of the task `r`, is to carry.
// Requires: events_lock_.
span_recorder::returned_scope span_recorder::take_returned(record* r) {
  returned_scope taken;
  if (r != nullptr) taken = std::move(r->returned);
  if (returned_ != nullptr && returning_ == pthread_self()) {
    merge(taken, std::move(*std::exchange(returned_, nullptr)));
  }
  return taken;
}

// Calls change(record, scope) for the running task and the scope of a finish; the time that this
// takes does not count.
template <class Change>
void span_recorder::change_scope(const task_counter& finish, Change change) noexcept {
  const std::uint64_t now = config_.clock();
  record* const r = running_now();
  if (r == nullptr) return;
  stop(*r, now);
  {
    shard& in = shard_of(finish);
    const std::lock_guard guard(in.lock);
    change(*r, in.scopes[&finish]);
  }
  go_on(*r);
}

void span_recorder::reaches_places(const task_counter& finish) noexcept {
  change_scope(finish, [](record& r, scope_record& scope) {
    if (!std::exchange(scope.is_open, true)) r.s.open(scope.scope);
  });
}

void span_recorder::replies(const task_counter& finish) noexcept {
  change_scope(finish, [](record& r, scope_record& scope) { r.s.end(scope.scope); });
}

void span_recorder::returns(const task_counter& finish, bool with_reply) noexcept {
  shard& in = shard_of(finish);
  std::unordered_map<const task_counter*, scope_record>::node_type ended;
  {
    const std::lock_guard guard(in.lock);
    ended = in.scopes.extract(&finish);
  }
  if (!ended) return;
  record* const r = with_reply ? running_now() : nullptr;
  if (r != nullptr) return merge(r->returned, std::move(ended.mapped().scope));
  const std::lock_guard guard(events_lock_);
  returning_ = pthread_self();
  merge(returned_, std::move(ended.mapped().scope));
}

// What a frame about a clock has waited for. A place says that all have arrived there; the home
// says that a phase is over, to each place in turn, after it has released the tasks that are there.
// Requires: events_lock_.
const critical_paths& span_recorder::paths_to(const departing_frame& frame, phase_paths& phases) {
  if (!frame.from_home) return phases.arriving.latest;
  if (!std::exchange(phases.released_here, false) && phases.told != frame.number) {
    phases.over = phases.arriving;
  }
  phases.told = frame.number;
  return phases.over.latest;
}

// Words: the paths, then if credit returns, the work and the paths of the finish.
span_words span_recorder::departs(const departing_frame& frame) noexcept {
  const std::uint64_t now = config_.clock();
  span_words words;
  record* const r = running_now();
  if (r != nullptr) stop(*r, now);
  critical_paths sent;
  if (r != nullptr) sent = r->s.paths();
  returned_scope returned;
  {
    const std::lock_guard guard(events_lock_);
    if (frame.phase != nullptr) sent.join(paths_to(frame, phases_[frame.phase]));
    if (frame.returns_credit) returned = take_returned(r);
  }
  sent.burdened.burden(r == nullptr ? site_table::unknown : r->s.site(), costs_.message);
  put_paths(words, sent, sites_);
  if (returned != nullptr) {
    words.push_back(returned->work);
    put_paths(words, returned->latest, sites_);
  }
  if (r != nullptr) go_on(*r);
  return words;
}

// A message about a clock is handled later, by a task that handles several. So its path goes to the
// tasks of that clock, not to the task that handles it.
bool span_recorder::arrives(const arriving_frame& frame,
                            std::span<const std::uint64_t> words) noexcept {
  span_reader from(words);
  span_event event;
  if (!words.empty()) event.latest = from.next_paths(sites_);
  span_scope returned;
  const bool has_returned = from.good() && !from.at_end();
  if (has_returned) {
    returned.work = from.word();
    returned.latest = from.next_paths(sites_);
  }
  if (!from.good() || !from.at_end()) return false;
  if (has_returned && frame.finish != nullptr) {
    shard& in = shard_of(*frame.finish);
    const std::lock_guard guard(in.lock);
    span_scope& scope = in.scopes[frame.finish].scope;
    scope.latest.join(returned.latest);
    scope.work += returned.work;
  }
  if (frame.phase != nullptr || frame.call != nullptr) {
    const std::lock_guard guard(events_lock_);
    if (frame.phase != nullptr) {
      phase_paths& phases = phases_[frame.phase];
      phases.arriving.latest.join(event.latest);
      phases.released_here = false;
    }
    if (frame.call != nullptr) published_[frame.call] = event;
  }
  frame_.s = strand();
  if (!frame.is_of_phase) frame_.s.receive(event, no_span_costs);
  polling_.store(pthread_self(), base::relaxed);
  return true;
}

void span_recorder::handled() noexcept { polling_.store({}, base::relaxed); }

}  // namespace apgas::inline v0::scheduler
