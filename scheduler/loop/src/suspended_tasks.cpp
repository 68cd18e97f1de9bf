// SPDX-License-Identifier: Apache-2.0
#include <mutex>

#include <apgas/base/membarrier.hpp>

#include "suspended_tasks.hpp"

namespace apgas::inline v0::scheduler {
namespace {

// These read what another thread may be writing, and find out afterwards whether it did. The
// sanitizers cannot know that.
#if defined(__clang__)
#define APGAS_READS_RACING [[clang::no_sanitize("thread", "address")]]
#else
#define APGAS_READS_RACING [[gnu::no_sanitize("thread"), gnu::no_sanitize("address")]]
#endif

template <class T>
APGAS_READS_RACING T racing_read(const T& from) noexcept {
  return *const_cast<const volatile T*>(&from);
}

// Copies what the task on the fiber waits for. Returns false if the task was not suspended all the
// time: then the record may be gone, and the copy contains anything. A stack stays mapped, so the
// copying itself is safe.
APGAS_READS_RACING bool copy_wait(const fiber& f, wait_record& waits, task_state& task) noexcept {
  const std::uint64_t before = racing_read(f.generation);
  const wait_record* const record = racing_read(f.waits_for);
  base::full_fence();
  if (record == nullptr) return false;
  waits.construct = racing_read(record->construct);
  waits.where = record->where;
  task.site = f.task.site;
  task.name = racing_read(f.task.name);
  base::full_fence();
  return racing_read(f.waits_for) == record && racing_read(f.generation) == before;
}

}  // namespace

APGAS_READS_RACING worker_state state_of(worker& w) noexcept {
  worker_state s;
  s.on = racing_read(w.running);
  s.head = w.tasks.head();
  s.choices = racing_read(w.choices);
  if (s.on != nullptr) s.site = s.on->task.site;
  return s;
}

void suspended_tasks::add(fiber& f) noexcept {
  const std::lock_guard guard(lock_);
  f.newer = nullptr;
  f.older = newest_;
  if (newest_ != nullptr) newest_->newer = &f;
  newest_ = &f;
}

void suspended_tasks::remove(fiber& f) noexcept {
  const std::lock_guard guard(lock_);
  if (f.older != nullptr) f.older->newer = f.newer;
  (f.newer != nullptr ? f.newer->older : newest_) = f.older;
}

void suspended_tasks::explain(wait_groups& groups, hang_explanation& explanation) {
  const std::lock_guard guard(lock_);
  for (fiber* f = newest_; f != nullptr; f = f->older) {
    const wait_record waits = waits_for(*f);
    if (waits.construct == nullptr) continue;
    groups.add(waits, f->task);
    explanation.add(*f);
  }
}

void suspended_tasks::group(wait_groups& groups) {
  const std::lock_guard guard(lock_);
  for (const fiber* f = newest_; f != nullptr; f = f->older) {
    wait_record waits{nullptr};
    task_state task;
    if (copy_wait(*f, waits, task) && waits.construct != nullptr) groups.add(waits, task);
  }
}

}  // namespace apgas::inline v0::scheduler
