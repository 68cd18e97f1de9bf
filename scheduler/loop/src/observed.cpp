// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include <apgas/base/spin_lock.hpp>

#include "implementation.hpp"
#include "observed.hpp"

namespace apgas::inline v0::scheduler {
namespace {

constexpr std::uint32_t kept_most = 4096;  // by a worker: half a megabyte
constexpr std::uint32_t moved_together = 1024;

// Takes memory from the other workers. Returns false if they have given none away.
bool take_from_others(observed_tasks& mine, observed_pool& shared) noexcept {
  const std::lock_guard guard(shared.lock);
  for (; shared.free != nullptr && mine.free_count < moved_together; ++mine.free_count) {
    observed_task* const t = std::exchange(shared.free, shared.free->below);
    t->below = std::exchange(mine.free, t);
  }
  return mine.free != nullptr;
}

observed_task* allocate(worker& w) noexcept {
  observed_tasks& mine = *w.observed;
  observed_pool& shared = w.home->internals().observed_memory;
  if (mine.free == nullptr && !take_from_others(mine, shared)) {
    return new (std::nothrow) observed_task{};
  }
  --mine.free_count;
  return std::exchange(mine.free, mine.free->below);
}

void give_back(worker& w, observed_task& t) noexcept {
  observed_tasks& mine = *w.observed;
  t.below = std::exchange(mine.free, &t);
  if (++mine.free_count < kept_most) return;
  observed_pool& shared = w.home->internals().observed_memory;
  const std::lock_guard guard(shared.lock);
  for (std::uint32_t i = 0; i < moved_together; ++i, --mine.free_count) {
    observed_task* const moved = std::exchange(mine.free, mine.free->below);
    moved->below = std::exchange(shared.free, moved);
  }
}

std::uint64_t next_id(worker& w) noexcept {
  const auto workers = static_cast<std::uint64_t>(w.home->num_workers());
  return w.observed->spawned++ * workers + static_cast<std::uint64_t>(w.id) + 1;
}

// Makes `s` the slot of an observed task. Returns null if it is one already, if it is no task, or
// if there is no memory: then the observer does not learn of the task, and no thief takes it.
// Requires: the lock of its deque, or it was stolen.
observed_task* rewrite(worker& w, slot& s) noexcept {
  if (s.may_be_stolen()) return nullptr;
  observed_task* const t = allocate(w);
  if (t == nullptr) return nullptr;
  *t = observed_task{.run = s.run,
                     .counter = s.counter(),
                     .id = next_id(w),
                     .is_branch = s.kind() == slot_kind::join};
  if (t->is_branch) {
    t->site = static_cast<branch_counter*>(t->counter)->site();
    s.tagged_counter |= slot::observed_branch;
  } else {
    t->site = s.site;
    t->counter->touch();
  }
  std::memcpy(&t->closure_word, s.closure + slot::observed_at, sizeof t->closure_word);
  std::memcpy(s.closure + slot::observed_at, &t, sizeof t);
  s.run = &run_observed;
  return t;
}

void enter_observed(fiber& self, observed_task& t) noexcept {
  t.below = std::exchange(self.observed, &t);
  if (task_observer* const observer = self.on->observer.get()) observer->begins(self, t);
}

void leave_observed(fiber& self, observed_task& t) noexcept {
  if (task_observer* const observer = self.on->observer.get()) observer->ends(self, t);
  self.observed = t.below;
}

}  // namespace

void delete_observed(observed_task* list) noexcept {
  while (list != nullptr) delete std::exchange(list, list->below);
}

observed_tasks::~observed_tasks() { delete_observed(free); }

bool observe_spawn(fiber& self) noexcept {
  worker& w = *self.on;
  task_observer* const observer = w.observer.get();
  if (observer == nullptr) {
    if (w.tasks.observed()) w.tasks.end_observed();
    return false;
  }
  if (!w.tasks.observed()) {
    w.tasks.begin_observed();
    w.tasks.rewrite_all([&w](slot& s) { rewrite(w, s); }, 1);
  }
  return w.tasks.rewrite_newest([&](slot& s) {
    if (observed_task* const t = rewrite(w, s)) observer->spawned(self, *t);
  });
}

void rewrite_stolen(worker& w, std::span<slot> taken) noexcept {
  for (slot& s : taken) rewrite(w, s);
}

void run_observed(slot& s, fiber& self) {
  observed_task& t = *s.observed();
  std::memcpy(s.closure + slot::observed_at, &t.closure_word, sizeof t.closure_word);
  enter_observed(self, t);
  t.run(s, self);
  leave_observed(self, t);
  give_back(*self.on, t);
}

task_counter* run_observed_external(external_task& work, fiber& self) noexcept {
  observed_task t{.id = next_id(*self.on), .cause = work.cause.value, .is_external = true};
  enter_observed(self, t);
  t.counter = work.run(&work, self);
  leave_observed(self, t);
  return t.counter;
}

void observed_branch_begins(fiber& self, observed_task& branch) noexcept {
  self.task.rare.has_attributes |= is_observed_branch;
  enter_observed(self, branch);
}

void observed_branch_ends(fiber& self) noexcept {
  observed_task& t = *self.observed;
  const auto& join = *static_cast<branch_counter*>(t.counter);
  leave_observed(self, t);
  observe_join(self, join, join.site());
  give_back(*self.on, t);
}

void describe_to_observer(fiber& self) noexcept {
  if (task_observer* const observer = self.on->observer.get()) observer->described(self);
}

}  // namespace apgas::inline v0::scheduler
