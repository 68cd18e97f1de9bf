// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <apgas/scheduler/worker.hpp>

// The workers of one place, and what connects them with the world outside.
namespace apgas::inline v0::scheduler {

// A task from outside the workers: a message, a timer, a foreign thread. Intrusive. run() is called
// once at loop level with a fresh task state, which it may fill, and may suspend. What it returns
// is the counter that the task holds a unit of, or null: the unit is given up when the children
// that the task left behind have run.
struct injected {
  injected* next = nullptr;
  task_counter* (*run)(injected*, fiber&) noexcept = nullptr;
};

// Progress of what is not a task (the network), implemented above this module.
class external_events {
 public:
  external_events() = default;
  external_events(const external_events&) = delete;
  external_events& operator=(const external_events&) = delete;
  virtual ~external_events() = default;

  // True if anything was done. Context: worker at loop level, one at a time. Runs no user code.
  virtual bool poll() noexcept = 0;

  // Whether something was begun that goes on only while somebody polls. Context: any thread.
  virtual bool pending() noexcept = 0;

  // How long the worker that watches may sleep between two polls; max() when arrivals call
  // scheduler::wake(). `idle_polls`: polls without effect so far.
  virtual std::chrono::nanoseconds max_sleep(unsigned idle_polls) noexcept = 0;

  // What the watcher sleeps on besides: it can be read once something has come since arm() said
  // true. arm() false: poll first. -1: there is none.
  virtual int descriptor() noexcept { return -1; }
  virtual bool arm() noexcept { return true; }
};

struct config {
  int workers = 1;
  std::size_t stack_bytes = std::size_t{1} << 20;
  std::chrono::nanoseconds spin{50'000};  // search this long before sleeping
  std::vector<int> bound_to = {};  // the processor of each worker; empty: workers are not bound
  bool oversubscribed = false;     // more workers than processors: a worker that searches yields
  bool asymmetric_fence = true;    // use membarrier where there is one
  external_events* events = nullptr;
  bool progress_thread = false;  // a thread waits for the events, and polls while workers are busy
  void* environment = nullptr;   // see scheduler::environment
  // When no task runs for so long while some wait, a line says which; 0: never. It is called on a
  // thread of its own.
  std::chrono::milliseconds watchdog_patience{0};
  std::function<void(const std::string&)> watchdog_report = {};
  std::string trace = {};  // a file for what the workers did (trace.hpp); empty: none
  int place = 0;           // as the trace names it
};

// Sums over the workers since the start.
struct statistics {
  std::uint64_t steals = 0;  // successful ones
  std::uint64_t stolen = 0;  // tasks they took
  std::uint64_t suspensions = 0;
  std::uint64_t drains = 0;
  std::uint64_t sleeps = 0;
  std::uint64_t fibers = 0;  // contexts made
  std::uint64_t polls = 0;   // of the network
};

class scheduler {
 public:
  // Starts the workers. Throws: launch_error when the system refuses threads or memory.
  explicit scheduler(const config& c);
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;
  // Requires: no task is left. Context: a thread that is no worker.
  ~scheduler();

  // Context: any thread.
  void inject(injected* work) noexcept;
  void wake() noexcept;          // something arrived: some worker polls soon
  void keep_polling() noexcept;  // events->pending() may be true now: poll even if all are busy
  void request_poll() noexcept;  // the next worker between two tasks polls. Context: worker
  // inject() at a time; never early. Context: any thread.
  void inject_at(std::chrono::steady_clock::time_point when, injected* work);
  // Takes back what was given to inject_at() with the same time. False: it has run or will run.
  // Context: any thread.
  bool cancel_at(std::chrono::steady_clock::time_point when, injected* work) noexcept;

  // Runs `work` on a thread of its own kind, which may block. Context: any thread.
  void run_on_helper(std::function<void()> work);

  int num_workers() const noexcept;
  worker& worker_at(int id) noexcept;
  // The object of the layer above that tasks of this scheduler belong to.
  void* environment() const noexcept { return environment_; }
  void set_environment(void* e) noexcept { environment_ = e; }
  statistics stats() const;

  struct implementation;
  implementation& internals() noexcept { return *implementation_; }

 private:
  void* environment_ = nullptr;
  std::unique_ptr<implementation> implementation_;
};

// Stacks in existence in the process, suspended tasks included (tests; leak checks).
std::size_t stacks_in_use() noexcept;
// How stacks are guarded on this system, for apgas-info.
std::string stack_guard_description(std::size_t stack_bytes);

}  // namespace apgas::inline v0::scheduler
