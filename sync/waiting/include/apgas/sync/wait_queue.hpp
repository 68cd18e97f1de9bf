// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/base/cpu_relax.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/scheduler/scheduler.hpp>
#include <apgas/scheduler/worker.hpp>

// Tasks that wait for their turn, first come first served. Guarded by the lock of what they wait
// for.
namespace apgas::inline v0::sync {

// One of them. Lives on its stack.
struct queued_task {
  scheduler::fiber* task = nullptr;
  queued_task* next = nullptr;
};

class wait_queue {
 public:
  bool empty() const noexcept { return first_ == nullptr; }

  void push(queued_task& t) noexcept {
    t.next = nullptr;
    *end_ = &t;
    end_ = &t.next;
  }

  // Null when empty.
  queued_task* pop() noexcept {
    queued_task* const t = first_;
    if (t == nullptr) return nullptr;
    first_ = t->next;
    if (first_ == nullptr) end_ = &first_;
    return t;
  }

  // All of them, linked by `next`.
  queued_task* take_all() noexcept {
    queued_task* const all = first_;
    first_ = nullptr;
    end_ = &first_;
    return all;
  }

 private:
  queued_task* first_ = nullptr;
  queued_task** end_ = &first_;
};

// What a task waits for is often over before it could be suspended and resumed (some 40 ns each, or
// much more when that moves it): tries for about as long, where there is another worker that could
// do it. Context: task.
template <class Attempt>
bool succeeds_soon(const scheduler::fiber& self, Attempt attempt) {
  constexpr int attempts = 30;
  if (self.on->home->num_workers() == 1) return false;
  for (int i = 0; i < attempts; ++i) {
    if (attempt()) return true;
    base::cpu_relax();
  }
  return false;
}

// Suspends the running task, unless proceed() under `lock` says that it may go on; then it is in
// `queue`, until somebody takes it off and resumes it. Context: task that may suspend.
template <class Proceed>
void queue_unless(const char* waits_for, base::spin_lock& lock, wait_queue& queue,
                  Proceed proceed) noexcept {
  queued_task me;
  scheduler::suspend(waits_for, [&](scheduler::fiber* self) {
    me.task = self;
    lock.lock();
    const bool proceeds = proceed();
    if (!proceeds) queue.push(me);
    lock.unlock();
    if (proceeds) scheduler::resume(self);
  });
}

// Resumes a list of take_all(). Context: any thread, without the lock.
inline void resume_all(queued_task* list) noexcept {
  while (list != nullptr) {
    queued_task* const next = list->next;  // the task may end as soon as it is resumed
    scheduler::resume(list->task);
    list = next;
  }
}

}  // namespace apgas::inline v0::sync
