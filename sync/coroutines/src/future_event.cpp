// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/future_event.hpp>

#include <apgas/sync/task_body.hpp>

namespace apgas::inline v0::sync {
namespace {

void resume_at(void* address) { std::coroutine_handle<>::from_address(address).resume(); }

// The coroutine belongs to the other library, which destroys it.
void leave_alone(void*) noexcept {}

}  // namespace

bool future_core_event::notify(coroutine_runner& waiting) noexcept {
  runner_ = &waiting;
  on_ready = [](future_waiter& w) noexcept { static_cast<future_core_event&>(w).runner_->wake(); };
  return core_.enlist(*this);
}

void resume_foreign_coroutine(future_core& awaited, void* address) {
  future_core* const only[] = {&awaited};
  spawn_when_ready(suspendable_fiber("co_await of a future"), only,
                   task_body(&resume_at, &leave_alone, address), nullptr, {});
}

}  // namespace apgas::inline v0::sync
