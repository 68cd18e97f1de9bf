// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>

#include <apgas/base/assert.hpp>

#include "recorder.hpp"

namespace apgas::inline v0::scheduler {
namespace {

// What a path is burdened with where a child may be stolen, and where a waiting task is resumed, in
// cycles. The scheduling loop assumes 900 for a steal (loop.cpp); the thief then misses the caches
// for the task's data about as long. A suspension with its resumption takes 20 to 30 ns, and an
// `at` within a host 0.8 us there and back.
constexpr span_costs costs_in_cycles{.spawn = 2'000, .resume = 100, .message = 1'200};
constexpr span_costs costs_in_ns{.spawn = 700, .resume = 35, .message = 400};

bool waits_for_phase(const wait_record& why) noexcept {
  return why.construct != nullptr && std::string_view(why.construct).starts_with("a phase of a ");
}

bool waits_for_reply(const wait_record& why) noexcept {
  return why.construct != nullptr && std::string_view(why.construct) == "at";
}

}  // namespace

span_recorder::span_recorder(const span_profile_config& c)
    : config_(c),
      costs_(c.nanoseconds ? costs_in_ns : costs_in_cycles),
      totals_(static_cast<std::size_t>(c.workers)),
      begun_ticks_(c.clock()),
      begun_(std::chrono::steady_clock::now()) {
  measure_hook();
}

// Measures how long a task seems to run that does nothing between two hooks.
void span_recorder::measure_hook() noexcept {
  fiber on{};
  observed_task task;
  record nothing(this);
  task.data[1][0] = std::bit_cast<std::uint64_t>(&nothing);
  on.observed = &task;
  task_observer* volatile hooks = this;  // called as the scheduler does
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < 1'000; ++i) {
    const span_ticks before = nothing.s.own_work();
    hooks->resumes(on, 0);
    hooks->suspends(on, "nothing");
    least = std::min(least, nothing.s.own_work() - before);
  }
  hook_ticks_ = least;
}

span_recorder::record* span_recorder::record_of(const observed_task* t) noexcept {
  return t == nullptr ? nullptr : std::bit_cast<record*>(t->data[1][0]);
}

// Returns the record of the task that calls, if it is at this place, or of the frame whose handler
// does. Null if neither runs: in the scheduling loop, and in code that runs while a task is being
// suspended.
span_recorder::record* span_recorder::running_now() noexcept {
  if (polling_.load(base::relaxed) == pthread_self()) return &frame_;
  const fiber* const here = current_fiber();
  if (here == nullptr) return nullptr;
  record* const r = record_of(here->observed);
  return r != nullptr && r->of == this && r->s.runs() ? r : nullptr;
}

void span_recorder::stop(record& r, std::uint64_t now) const {
  if (!r.s.runs()) return;
  const std::uint64_t ticks = now - r.since;
  r.s.pause(ticks > hook_ticks_ ? ticks - hook_ticks_ : 0);
}

void span_recorder::go_on(record& r) const noexcept {
  if (&r == &frame_) return;  // handlers take no time
  r.s.run();
  r.since = config_.clock();
}

span_recorder::shard& span_recorder::shard_of(const task_counter& counter) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(&counter);
  return shards_[(address >> 5U ^ address >> 12U) % shards_.size()];
}

span_recorder::worker_totals& span_recorder::totals_of(const fiber& f) noexcept {
  return totals_[static_cast<std::size_t>(f.on->id)];
}

auto span_recorder::make_record() -> record* {
  auto* const made = new (std::nothrow) record(this);
  if (made == nullptr) {
    base::fatal(
        "no memory for the profile of work and span: unset APGAS_PROFILE, or profile a run "
        "with fewer tasks at a time");
  }
  return made;
}

site_number span_recorder::spawn_site(const fiber& f, const std::source_location& site) {
  if (site.line() == 0) return site_table::unknown;
  return totals_of(f).spawn_sites.find(site, [&] { return sites_.number_of("", site); });
}

void span_recorder::spawned(fiber& parent, observed_task& child) noexcept {
  const std::uint64_t now = config_.clock();
  record* const spawner = record_of(parent.observed);
  const site_number site = spawn_site(parent, child.site);
  auto* const made = make_record();
  if (spawner == nullptr) {
    made->s = strand(site);
  } else {
    stop(*spawner, now);
    shard& in = shard_of(*child.counter);
    {
      const std::lock_guard guard(in.lock);
      const auto [at, is_new] = in.scopes.try_emplace(child.counter);
      if (is_new) {
        at->second.is_join = child.is_branch;
        at->second.is_open = true;
        spawner->s.open(at->second.scope);
      }
    }
    made->s = spawner->s.spawn(site, costs_);
  }
  child.data[1][0] = std::bit_cast<std::uint64_t>(made);
  if (spawner != nullptr) go_on(*spawner);
}

void span_recorder::begins(fiber&, observed_task& task) noexcept {
  const std::uint64_t now = config_.clock();
  if (record* const below = record_of(task.below)) stop(*below, now);
  record* r = record_of(&task);
  if (r == nullptr) {  // an external task
    r = make_record();
    task.data[1][0] = std::bit_cast<std::uint64_t>(r);
    if (task.cause != 0 && !config_.shares_run) {
      const std::lock_guard guard(events_lock_);
      if (auto from = submitted_.extract(task.cause)) {
        r->s.receive(from.mapped().event, no_span_costs);
        r->returned = std::move(from.mapped().returned);
      }
    }
  }
  go_on(*r);
}

void span_recorder::ends(fiber& self, observed_task& task) noexcept {
  const std::uint64_t now = config_.clock();
  const std::unique_ptr<record> r(record_of(&task));
  task.data[1][0] = 0;
  if (r != nullptr) {
    stop(*r, now);
    const span_ticks work = r->s.own_work();
    totals_of(self).add_task(r->s.site(), {.tasks = 1, .work = work, .longest = work});
    add_end(task, r->s);
  }
  if (record* const below = record_of(task.below)) go_on(*below);
}

// A task that arrived in a frame may be the first one of its finish at this place.
void span_recorder::add_end(const observed_task& task, const strand& s) {
  if (task.counter != nullptr) {
    shard& in = shard_of(*task.counter);
    const std::lock_guard guard(in.lock);
    if (task.is_external) return s.end(in.scopes[task.counter].scope);
    if (const auto found = in.scopes.find(task.counter); found != in.scopes.end())
      return s.end(found->second.scope);
  }
  const std::lock_guard guard(events_lock_);
  longest_.join(s.paths());
}

// The time since the task began or went on belongs to the site, too.
void span_recorder::described(fiber& self) noexcept {
  record* const r = record_of(self.observed);
  if (r == nullptr) return;
  if (self.task.name != nullptr) {
    r->s.set_site(sites_.number_of(self.task.name));
  } else if (self.task.site.line() != 0) {
    r->s.set_site(spawn_site(self, self.task.site));
  }
}

void span_recorder::suspends(fiber& self, const wait_record& why) noexcept {
  const std::uint64_t now = config_.clock();
  record* const r = record_of(self.observed);
  if (r == nullptr) return;
  stop(*r, now);
  r->phase = waits_for_phase(why) ? why.object : nullptr;
  r->call = waits_for_reply(why) ? why.object : nullptr;
  if (r->phase == nullptr) return;
  const std::lock_guard guard(events_lock_);
  phase_paths& phases = phases_[r->phase];
  r->s.signal(phases.arriving);
  r->phases_over = phases.phases_over;
}

// A reply may have come before its task was suspended, and has then not made it ready.
void span_recorder::resumes(fiber& self, std::uint64_t) noexcept {
  record* const r = record_of(self.observed);
  if (r == nullptr) return;
  r->phase = nullptr;
  if (r->call != nullptr) {
    const std::lock_guard guard(events_lock_);
    if (const auto reply = published_.extract(std::exchange(r->call, nullptr)))
      r->s.receive(reply.mapped(), costs_);
  }
  go_on(*r);
}

// The tasks that wait for a phase have arrived when they were suspended; the last one may still
// run, and make the others ready. The first of them to be made ready shows that the phase is over.
std::uint64_t span_recorder::makes_ready(const fiber& f) noexcept {
  const std::uint64_t now = config_.clock();
  record* const target = record_of(f.observed);
  record* const cause = running_now();
  if (cause != nullptr) stop(*cause, now);
  if (target != nullptr && target->phase != nullptr) {
    const std::lock_guard guard(events_lock_);
    phase_paths& phases = phases_[target->phase];
    if (cause != nullptr) cause->s.signal(phases.arriving);
    if (target->phases_over == phases.phases_over) {
      phases.over = phases.arriving;
      ++phases.phases_over;
      phases.released_here = true;
    }
    if (cause != nullptr) cause->s.receive(phases.over, no_span_costs);
    target->s.receive(phases.over, costs_);
  } else if (target != nullptr && cause != nullptr) {
    target->s.receive({cause->s.paths()}, costs_);
  }
  if (cause != nullptr) go_on(*cause);
  return 0;
}

std::uint64_t span_recorder::submits() noexcept {
  const std::uint64_t now = config_.clock();
  record* const cause = running_now();
  if (config_.shares_run) return 0;
  const std::lock_guard guard(events_lock_);
  returned_scope returned = take_returned(nullptr);
  if (cause == nullptr && returned == nullptr) return 0;
  submission& submitted = submitted_[++submissions_];
  submitted.returned = std::move(returned);
  if (cause == nullptr) return submissions_;
  stop(*cause, now);
  cause->s.signal(submitted.event);
  go_on(*cause);
  return submissions_;
}

void span_recorder::joined(fiber& self, const task_counter& counter,
                           const call_site& where) noexcept {
  const std::uint64_t now = config_.clock();
  record* const r = record_of(self.observed);
  if (r == nullptr) return;
  stop(*r, now);
  scope_record ended;
  bool known = false;
  {
    shard& in = shard_of(counter);
    const std::lock_guard guard(in.lock);
    if (auto taken = in.scopes.extract(&counter)) {
      ended = std::move(taken.mapped());
      known = true;
    }
  }
  if (known) {
    worker_totals& mine = totals_of(self);
    const char* const prefix = ended.is_join ? "fork_join at " : "finish at ";
    site_cache& sites = ended.is_join ? mine.join_sites : mine.finish_sites;
    const site_number site = sites.find(where, [&] { return sites_.number_of(prefix, where); });
    if (!ended.is_open) r->s.open(ended.scope);
    const span_ticks work = r->s.work_of(ended.scope);
    const span_ticks span = r->s.join(ended.scope, site, costs_);
    mine.add_finish(site, {.times = 1, .largest_work = work, .largest_span = span});
  }
  go_on(*r);
}

void span_recorder::published(const void* event) noexcept {
  const std::uint64_t now = config_.clock();
  record* const r = running_now();
  if (r == nullptr) return;
  stop(*r, now);
  {
    const std::lock_guard guard(events_lock_);
    published_[event] = {r->s.paths()};
  }
  go_on(*r);
}

void span_recorder::awaited(fiber& self, const void* event) noexcept {
  const std::uint64_t now = config_.clock();
  record* const r = record_of(self.observed);
  if (r == nullptr || !r->s.runs()) return;
  stop(*r, now);
  {
    const std::lock_guard guard(events_lock_);
    if (const auto found = published_.find(event); found != published_.end())
      r->s.receive(found->second, costs_);
  }
  go_on(*r);
}

}  // namespace apgas::inline v0::scheduler
