// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/base/spin_lock.hpp>
#include <apgas/scheduler/worker.hpp>

#include "hang_explanation.hpp"
#include "wait_groups.hpp"

// The fibers of a scheduler as the watchdog sees them. Without a watchdog there is no list.
namespace apgas::inline v0::scheduler {

class suspended_tasks {
 public:
  suspended_tasks() = default;
  suspended_tasks(const suspended_tasks&) = delete;
  suspended_tasks& operator=(const suspended_tasks&) = delete;

  // The scheduler has taken a fiber from the pool of stacks, or will return one.
  // Context: any thread.
  void add(fiber& f) noexcept;
  void remove(fiber& f) noexcept;

  // Groups the tasks that wait, and adds them to the explanation. Requires: no task can be resumed.
  // Throws: std::bad_alloc.
  void explain(wait_groups& groups, hang_explanation& explanation);

  // Groups the tasks that wait, while others run. A task that is resumed or suspended at this
  // moment may be left out. Throws: std::bad_alloc.
  void group(wait_groups& groups);

 private:
  base::spin_lock lock_;
  fiber* newest_ = nullptr;
};

// What a worker does at this moment, which may change while it is read.
struct worker_state {
  const fiber* on = nullptr;
  call_site site{};  // of the task that it runs
  const slot* head = nullptr;
  std::uint32_t choices = 0;  // of its scheduling loop
  bool operator==(const worker_state& other) const noexcept {
    return on == other.on && head == other.head && choices == other.choices &&
           site.line() == other.site.line();
  }
};
worker_state state_of(worker& w) noexcept;

}  // namespace apgas::inline v0::scheduler
