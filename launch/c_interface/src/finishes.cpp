// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <apgas/base/assert.hpp>
#include <apgas/base/atomic.hpp>
#include <apgas/finish.hpp>

#include "callbacks.hpp"

// A finish that its task has begun and not ended. It is on the heap, since its two functions have
// no common stack frame; finish_frame permits that, because they are called by the same task.
struct apgas_finish_state {
  apgas_finish_state(apgas::scheduler::fiber& self, apgas_finish_state* next)
      : outer(next), frame(self) {}

  apgas_finish_state* const outer;
  apgas::sync::finish_frame frame;
};

namespace apgas::inline v0::launch {
namespace {

std::uint64_t key() noexcept {
  static const std::uint64_t of_c_task = sync::new_local_key();
  return of_c_task;
}

base::atomic<std::uint64_t> last_id{0};

// Begins a finish of the running task. Throws: std::bad_alloc.
apgas_finish_state* begin_innermost() {
  scheduler::fiber& self = *scheduler::fiber_of_this_stack();
  c_task& task = c_task::get(self);
  auto made = std::make_unique<apgas_finish_state>(self, task.innermost);
  return task.innermost = made.release();
}

// Ends the innermost finish of the task. Throws: what its tasks threw.
void end_innermost(c_task& task) {
  const std::unique_ptr<apgas_finish_state> ended(task.innermost);
  task.innermost = ended->outer;
  ended->frame.end({});
}

}  // namespace

c_task::c_task() : local_value(launch::key()), id(last_id.fetch_add(1, base::relaxed) + 1) {}

c_task::~c_task() {
  if (innermost != nullptr) {
    base::fatal(
        "a task ended inside a finish that it had begun with apgas_finish_begin; call "
        "apgas_finish_end");
  }
}

c_task* c_task::find(const scheduler::fiber& self) noexcept {
  return static_cast<c_task*>(sync::find_local(self, launch::key()));
}

c_task& c_task::get(scheduler::fiber& self) {
  c_task* task = find(self);
  if (task == nullptr) {
    task = new c_task;
    sync::add_local(self, task, false);
  }
  return *task;
}

apgas_finish_state* begin_callback() noexcept {
  c_task* const task = c_task::find(*scheduler::fiber_of_this_stack());
  return task == nullptr ? nullptr : std::exchange(task->innermost, nullptr);
}

bool end_callback(apgas_finish_state* outer) noexcept {
  scheduler::fiber& self = *scheduler::fiber_of_this_stack();
  c_task* const task = c_task::find(self);
  if (task == nullptr) return true;
  const bool ended = task->innermost == nullptr;
  while (task->innermost != nullptr) {
    try {
      end_innermost(*task);
    } catch (...) {
      sync::task_failed(self);
    }
  }
  task->innermost = outer;
  return ended;
}

}  // namespace apgas::inline v0::launch

using apgas::launch::c_task;

int apgas_finish(void (*body)(void*), void* arg) noexcept {
  if (body == nullptr) return APGAS_EINVAL;
  if (const int refused = apgas::launch::refuse_outside_task()) return refused;
  return apgas::launch::call_guarded([body, arg] {
    apgas::finish([body, arg] { apgas::launch::call_back([body, arg] { body(arg); }); });
  });
}

int apgas_finish_begin(apgas_finish_t* finish) noexcept {
  if (finish == nullptr) return APGAS_EINVAL;
  if (const int refused = apgas::launch::refuse_outside_task()) return refused;
  return apgas::launch::call_guarded([finish] { *finish = apgas::launch::begin_innermost(); });
}

int apgas_finish_end(apgas_finish_t finish) noexcept {
  if (finish == nullptr) return APGAS_EINVAL;
  if (const int refused = apgas::launch::refuse_outside_task()) return refused;
  c_task* const task = c_task::find(*apgas::scheduler::fiber_of_this_stack());
  if (task == nullptr || task->innermost != finish) return APGAS_EFINISH;
  return apgas::launch::call_guarded([task] { apgas::launch::end_innermost(*task); });
}
