// SPDX-License-Identifier: Apache-2.0
#pragma once

// A place without a network, for tests that need tasks but neither other places nor apgas::run.
// run_tasks(workers, f) runs f as the root task of a scheduler, inside a finish, and checks at the
// end that no stack is still in use.

#include <cstdlib>
#include <exception>
#include <functional>
#include <future>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <apgas/base/sanitizer.hpp>
#include <apgas/finish.hpp>
#include <apgas/scheduler/scheduler.hpp>
#include <apgas/scheduler/stacks.hpp>
#include <apgas/sync/place_state.hpp>
#include <apgas/sync/unobserved.hpp>

namespace apgas::test {

// Chooses a number for a test: `plain`, or a smaller one under a sanitizer, where everything costs
// much more. The ThreadSanitizer of gcc 12 fails at 8128 fibers.
constexpr int scaled(int plain, int under_tsan, int under_asan) {
  if (APGAS_THREAD_SANITIZER != 0) return under_tsan;
  return APGAS_ADDRESS_SANITIZER != 0 ? under_asan : plain;
}
constexpr int scaled(int plain, int sanitized) { return scaled(plain, sanitized, sanitized); }

// The scheduler of a place and the state that belongs to it. It runs any number of root tasks, one
// after the other; run_tasks() below creates one for a single root task.
class task_place {
 public:
  explicit task_place(scheduler::config settings) : tasks_(with_state(settings, state_)) {
    state_.task_scheduler = &tasks_;
  }
  explicit task_place(int workers) : task_place(config_for(workers)) {}
  task_place(const task_place&) = delete;
  task_place& operator=(const task_place&) = delete;
  ~task_place() { sync::report_all_unobserved(state_); }

  sync::place_state& state() { return state_; }
  scheduler::scheduler& tasks() { return tasks_; }

  // Runs f() as a task, inside a finish, and waits for it.
  // Throws: multiple_exceptions with the exceptions of f and its tasks.
  // Context: a thread that is not a worker.
  template <class F>
  void run(F f) {
    root<F> task(f);
    std::future<void> done = task.done.get_future();
    tasks_.submit(&task);
    done.get();
  }

  // With exactly so many workers, also with APGAS_TEST_WORKERS.
  static scheduler::config exactly(int workers) {
    scheduler::config settings;
    settings.workers = workers;
    return settings;
  }
  // With APGAS_TEST_WORKERS, a test that asks for several workers gets so many.
  static scheduler::config config_for(int workers) {
    scheduler::config settings = exactly(workers);
    // NOLINTNEXTLINE(concurrency-mt-unsafe): tests do not set any
    if (const char* const more = std::getenv("APGAS_TEST_WORKERS"); more && workers > 1) {
      settings.workers = std::stoi(more);
      settings.oversubscribed = true;
    }
    return settings;
  }

 private:
  template <class F>
  struct root : scheduler::external_task {
    explicit root(F& f) : body(f) { run = &run_root<F>; }
    F& body;
    sync::finish_core outermost;
    std::promise<void> done;
  };

  template <class F>
  static scheduler::task_counter* run_root(scheduler::external_task* work,
                                           scheduler::fiber& self) noexcept {
    auto& task = *static_cast<root<F>*>(work);
    std::promise<void> done;
    std::exception_ptr failure;
    self.task.finish = &task.outermost;
    try {
      finish([&] { std::invoke(task.body); });
    } catch (...) {
      failure = std::current_exception();
    }
    done.swap(task.done);  // `task` is destroyed as soon as run() returns
    if (failure == nullptr) {
      done.set_value();
    } else {
      done.set_exception(std::move(failure));
    }
    return nullptr;
  }

  static scheduler::config with_state(scheduler::config settings, sync::place_state& state) {
    settings.environment = &state;
    return settings;
  }

  sync::place_state state_;
  scheduler::scheduler tasks_;
};

// How many workers a test gets that asks for `workers`.
inline int workers_started(int workers) { return task_place::config_for(workers).workers; }

// Runs f() as if it were inside a critical section. Context: task.
template <class F>
void as_if_atomic(F f) {
  ++scheduler::current_fiber()->task.rare.atomic_depth;
  f();
  --scheduler::current_fiber()->task.rare.atomic_depth;
}

// Runs f() as the root task of a new place. Throws: as task_place::run.
template <class F>
void run_tasks(const scheduler::config& settings, F f) {
  const std::size_t stacks_before = scheduler::stacks_in_use();
  {
    task_place place(settings);
    place.run(std::move(f));
  }
  EXPECT_EQ(scheduler::stacks_in_use(), stacks_before) << "a task was left suspended";
}

template <class F>
void run_tasks(int workers, F f) {
  run_tasks(task_place::config_for(workers), std::move(f));
}

}  // namespace apgas::test
