// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/branch.hpp>

#include <apgas/forall.hpp>
#include <apgas/scheduler/scheduler.hpp>
#include <apgas/scheduler/task_observer.hpp>

#include "failures.hpp"

// The parts of fork_join, forall and coforall that are not on the fast path.
namespace apgas::inline v0 {

int detail::workers_here(const scheduler::fiber& self) noexcept {
  return self.on->home->num_workers();
}

namespace sync {

bool take_back_or_wait(scheduler::task_counter& join, const scheduler::call_site& where) noexcept {
  auto& tasks = scheduler::current_fiber()->on->tasks;
  if (join.untouched()) {
    const std::uintptr_t tag = scheduler::slot::tag(&join, scheduler::slot_kind::join);
    scheduler::slot* const top = tasks.head() - 1;
    scheduler::slot* s = top;
    // An untouched join has its branch in this deque.
    while ((s->tagged_counter & ~scheduler::slot::observed_branch) != tag) --s;
    scheduler::observed_task* const observed = s->observed();
    if (s == top ? tasks.pop(s) : tasks.extract(s)) {
      if (observed != nullptr) [[unlikely]]
        scheduler::observed_branch_begins(*scheduler::current_fiber(), *observed);
      return true;
    }
  }
  if (!scheduler::others_end_soon(join)) {
    scheduler::wait_for_others(join, {"fork_join, forall or coforall", nullptr, where});
  }
  scheduler::observe_join(*scheduler::current_fiber(), join, where);
  return false;
}

void fork_hiding_attributes(branch_without_type f, branch_without_type g,
                            std::source_location site) {
  scheduler::fiber& self = suspendable_fiber("fork_join");
  if (children_inherit(self)) {
    inheriting<branch_without_type> first(self, f);
    inheriting<branch_without_type> second(self, g);
    const hidden_attributes hidden(self, site);
    static_cast<void>(fork_two(std::move(first), std::move(second), site));
  } else {
    const hidden_attributes hidden(self, site);
    static_cast<void>(fork_two(f, g, site));
  }
}

void branch_failures::add() {
  const scheduler::fiber& self = *scheduler::current_fiber();
  const spawn_site site{.file = site_.file_name(),
                        .line = site_.line(),
                        .function = site_.function_name(),
                        .task_name = {}};
  collect_current(exceptions_, place_id_of(self), site);
}

void branch_failures::raise() { throw multiple_exceptions(std::move(exceptions_)); }

}  // namespace sync
}  // namespace apgas::inline v0
