// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include <apgas/base/cycles.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/scheduler/task_observer.hpp>

// The turnings that the scheduler takes in an observed run. task_observer.hpp lists them.
namespace apgas::inline v0::scheduler {

struct external_task;

// The memory for the observed tasks that one worker spawns. The worker that a task ends on keeps
// its memory; beyond some thousand tasks it gives them to all workers of the place.
struct observed_tasks {
  observed_task* free = nullptr;
  std::uint32_t free_count = 0;
  std::uint64_t spawned = 0;

  observed_tasks() = default;
  observed_tasks(const observed_tasks&) = delete;
  observed_tasks& operator=(const observed_tasks&) = delete;
  ~observed_tasks();
};

// Frees a list of observed tasks.
void delete_observed(observed_task* list) noexcept;

// The memory that workers have given to each other.
struct observed_pool {
  base::spin_lock lock;
  observed_task* free = nullptr;

  observed_pool() = default;
  observed_pool(const observed_pool&) = delete;
  observed_pool& operator=(const observed_pool&) = delete;
  ~observed_pool() { delete_observed(free); }
};

// Makes the newest slot in the deque that of an observed task, and tells the observer of the spawn.
// Returns whether the push needs nothing else. Where the observation has begun or ended, lets the
// deque follow.
// Context: task.
bool observe_spawn(fiber& self) noexcept;

// Makes slots that the worker has stolen those of observed tasks, if the run is observed: the deque
// of the victim may not have followed yet.
// Context: scheduling loop.
void rewrite_stolen(worker& w, std::span<slot> taken) noexcept;
inline void observe_stolen(worker& w, std::span<slot> taken) noexcept {
  if (w.observer.get() != nullptr || w.tasks.observed()) [[unlikely]]
    rewrite_stolen(w, taken);
}

// Tells the observer of an external task around run(work, self), and returns its result.
// Context: scheduling loop.
task_counter* run_observed_external(external_task& work, fiber& self) noexcept;

// Tells of the end of such a branch, and that its join is complete.
// Context: the task of the fork.
void observed_branch_ends(fiber& self) noexcept;

// Tells the observer, if there is one, what worker `w` has done since `begun`.
inline void observe_activity(worker& w, worker_activity what, std::uint64_t begun,
                             std::uint64_t detail = 0) noexcept {
  if (task_observer* const observer = w.observer.get()) [[unlikely]]
    observer->worker_did(w, what, begun, detail);
}
// The same when it begins; returns the time in cycles if the run is observed.
inline std::uint64_t observe_begin(worker& w, worker_activity what) noexcept {
  task_observer* const observer = w.observer.get();
  if (observer == nullptr) return 0;
  observer->worker_begins(w, what);
  return base::cycles();
}

}  // namespace apgas::inline v0::scheduler
