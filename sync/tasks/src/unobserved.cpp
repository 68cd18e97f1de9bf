// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/unobserved.hpp>

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <apgas/base/log.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/sync/place_state.hpp>

namespace apgas::inline v0::sync {
namespace {

struct failure_list {
  base::spin_lock lock;
  failure* first = nullptr;

  void remove(failure& f) noexcept {
    (f.previous == nullptr ? first : f.previous->next) = f.next;
    if (f.next != nullptr) f.next->previous = f.previous;
    f.listed = false;
  }
};

constinit failure_list unseen;

// Takes f off the list and reports it to its place. The lock of the list is held, so that after
// report_all_unobserved() no thread is about to report to a place that no longer exists. If the
// place accepts no reports, returns the exception, which the caller prints after it has released
// the lock.
std::optional<task_exception> tell_locked(failure& f) noexcept {
  unseen.remove(f);
  place_state& place = *f.place;
  if (place.unobserved == nullptr) return task_exception(f.error, place.here, std::move(f.site));
  place.unobserved(place, f.error, f.site);
  return std::nullopt;
}

void print(const task_exception& lost) noexcept {
  base::warn(fmt::format("a task failed, and no task observed its future: {}", lost.describe()));
}

}  // namespace

void list_unobserved(failure& f) noexcept {
  std::lock_guard guard(unseen.lock);
  f.listed = true;
  f.previous = nullptr;
  f.next = unseen.first;
  if (f.next != nullptr) f.next->previous = &f;
  unseen.first = &f;
}

void forget_unobserved(failure& f) noexcept {
  std::lock_guard guard(unseen.lock);
  if (f.listed) unseen.remove(f);
}

void report_if_unobserved(failure& f) noexcept {
  std::optional<task_exception> lost;
  {
    std::lock_guard guard(unseen.lock);
    if (f.listed) lost = tell_locked(f);
  }
  if (lost.has_value()) print(*lost);
}

void report_all_unobserved(place_state& place) noexcept {
  std::vector<task_exception> lost;
  {
    std::lock_guard guard(unseen.lock);
    for (failure* f = unseen.first; f != nullptr;) {
      failure& current = *std::exchange(f, f->next);
      if (current.place != &place) continue;
      if (auto one = tell_locked(current)) lost.push_back(*std::move(one));
    }
  }
  for (const task_exception& one : lost) print(one);
}

}  // namespace apgas::inline v0::sync
