// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/base/cpu_relax.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/scheduler/scheduler.hpp>
#include <apgas/scheduler/worker.hpp>

// The tasks that wait for their turn at a mutex, a semaphore or a similar construct, first come
// first served. The queue has no lock of its own; the lock of the construct guards it.
//
// Invariants
//   I1  After its first push(), an entry is in a queue exactly while its `link` is not null.
namespace apgas::inline v0::sync {

// One waiting task. It lives on the stack of that task. The fields have no initial values, because
// each costs a hand-over a store; `task` and push() set them.
struct queued_task {
  scheduler::fiber* task;
  queued_task* next;
  queued_task** link;  // the pointer of the queue that points to this entry
};

// Tasks that were taken from a queue, to be resumed when its lock is free again.
class resume_list {
 public:
  void push(queued_task& t) noexcept {
    t.next = nullptr;
    *end_ = &t;
    end_ = &t.next;
  }

  // Resumes the tasks, oldest first. Context: any thread that does not hold the lock of the queue;
  // once.
  void resume_all() noexcept {
    for (queued_task* t = first_; t != nullptr;) {
      queued_task* const next = t->next;  // the task may end as soon as it is resumed
      scheduler::resume(t->task);
      t = next;
    }
  }

 private:
  queued_task* first_ = nullptr;
  queued_task** end_ = &first_;
};

class wait_queue {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  // Returns the oldest entry; null when the queue is empty.
  queued_task* front() const noexcept { return first_; }

  void push(queued_task& t) noexcept {
    t.next = nullptr;
    t.link = end_;
    *end_ = &t;
    end_ = &t.next;
  }

  // Removes and returns the oldest entry; null when the queue is empty.
  queued_task* pop() noexcept {
    queued_task* const t = first_;
    if (t == nullptr) return nullptr;
    first_ = t->next;
    (first_ == nullptr ? end_ : first_->link) = &first_;
    t->link = nullptr;
    return t;
  }

  // Moves all entries to `taken`, oldest first.
  void pop_all(resume_list& taken) noexcept {
    while (queued_task* const t = pop()) taken.push(*t);
  }

  // Removes an entry if it is still in this queue, and returns whether it was. Requires: it has
  // been pushed to this queue before, and to no other since.
  bool remove(queued_task& t) noexcept {
    if (t.link == nullptr) return false;
    *t.link = t.next;
    (t.next == nullptr ? end_ : t.next->link) = t.link;
    t.link = nullptr;
    return true;
  }

 private:
  queued_task* first_ = nullptr;
  queued_task** end_ = &first_;
};

// Retries attempt() after about one microsecond and again after two, and returns whether it
// succeeded. A wait is often over before the task could be suspended and resumed, which takes some
// 40 ns each, and much longer when the task moves to another worker. Meanwhile, the cache line that
// the attempt reads stays with the worker that has the lock and often takes it again: of two cores
// that want a lock all the time, one has it for many turns (docs/decisions/0008). With a single
// worker nothing else can happen meanwhile, so it returns false at once. Context: task; does not
// suspend.
template <class Attempt>
bool succeeds_soon(const scheduler::fiber& self, Attempt attempt) {
  if (self.on->home->num_workers() == 1) return false;
  for (const int pauses : {32, 64}) {
    for (int i = 0; i < pauses; ++i) base::cpu_relax();
    if (attempt()) return true;
  }
  return false;
}

// Suspends the running task unless proceed(), which is called under `lock`, returns true. A task
// that suspends is in `queue`, as the entry `me`, until another thread takes it from there and
// resumes it. `waits_for` is as for scheduler::suspend. Context: task that may suspend; may resume
// on another worker.
template <class Proceed>
void queue_unless(const scheduler::wait_record& waits_for, base::spin_lock& lock, wait_queue& queue,
                  queued_task& me, Proceed proceed) noexcept {
  scheduler::suspend(waits_for, [&](scheduler::fiber* self) {
    me.task = self;
    lock.lock();
    const bool proceeds = proceed();
    if (!proceeds) queue.push(me);
    lock.unlock();
    if (proceeds) scheduler::resume(self);
  });
}

// The same with an entry of its own.
template <class Proceed>
void queue_unless(const scheduler::wait_record& waits_for, base::spin_lock& lock, wait_queue& queue,
                  Proceed proceed) noexcept {
  queued_task me;
  queue_unless(waits_for, lock, queue, me, proceed);
}

}  // namespace apgas::inline v0::sync
