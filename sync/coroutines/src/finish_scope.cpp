// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/finish_scope.hpp>

#include <apgas/scheduler/task_observer.hpp>
#include <apgas/sync/task.hpp>

#include "finish_end.hpp"

namespace apgas::inline v0::sync {

finish_scope::finish_scope(const scheduler::call_site& where)
    : begun_on_(&suspendable_fiber("finish_awaitable")),
      outer_(begun_on_->task.finish),
      mark_(*begun_on_),
      where_(where) {
  scheduler::current_fiber()->task.finish = &core_;
}

void finish_scope::failed() noexcept { task_failed(*scheduler::current_fiber()); }

bool finish_scope::ready() noexcept {
  scheduler::fiber& self = *scheduler::current_fiber();
  // The coroutine may have left the fiber on which the finish began. Then its children of before
  // are counted, and those of now begin where it was resumed.
  const bool has_stayed = &self == begun_on_ && self.generation == mark_.generation;
  run_own_children(self, core_,
                   has_stayed ? mark_ : scheduler::frame_mark(self.base, self.generation));
  return core_.alone();
}

bool finish_scope::notify(coroutine_runner& waiting) noexcept {
  runner_ = &waiting;
  core_.set_observer(this);
  return !core_.release();
}

void finish_scope::result() {
  scheduler::fiber& self = *scheduler::current_fiber();
  scheduler::observe_join(self, core_, {});
  static_cast<void>(close_finish(self, core_, outer_));
}

}  // namespace apgas::inline v0::sync
