// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <apgas/base/api.hpp>
#include <apgas/base/biased_lock.hpp>
#include <apgas/scheduler/worker.hpp>

// The scheduler of a place: it owns the workers and connects them with everything outside, such as
// the network, timers and foreign threads.
namespace apgas::inline v0::scheduler {

// A task that is submitted from outside the workers: by a message, a timer or a foreign thread. The
// caller provides the object, which must live until run() is called.
//
// A scheduling loop calls run() once, with a fresh task state, which run() may fill in. run() may
// suspend. It returns the counter of which the task holds a count, or null. The loop releases that
// count when it has also run the children that the task left in the deque.
struct external_task {
  external_task* next = nullptr;
  task_counter* (*run)(external_task*, fiber&) noexcept = nullptr;
  // What task_observer::submits() has returned. Not set while the run has no observer, so a task
  // that was submitted just before the observation began has any number, which is that of no flow.
  struct unset_number {
    unset_number() noexcept {}  // NOLINT(modernize-use-equals-default): it must cost nothing
    std::uint64_t value;
  };
  unset_number cause = {};
};

class seeded_schedule;

// Events that workers poll for between tasks: the network. The layer above implements it.
class external_events {
 public:
  external_events() = default;
  external_events(const external_events&) = delete;
  external_events& operator=(const external_events&) = delete;
  virtual ~external_events() = default;

  // Makes progress, and returns whether there was anything to do. If there is nothing, and looking
  // for arrivals is cheaper than another poll, it looks again up to `looks` times, which takes a
  // few nanoseconds each. Must not run user code. Only one thread calls it at a time. Context: a
  // scheduling loop, a task that waits in place, the fallback poller or the progress thread.
  virtual bool poll(unsigned looks) noexcept = 0;

  // Returns whether something was begun that makes progress only while poll() is called.
  // Context: any thread.
  virtual bool pending() noexcept = 0;

  // Returns how long the sleeping poller may sleep before the next poll; max() if every arrival
  // calls scheduler::wake() or makes descriptor() readable. `idle_polls` is the number of
  // successive polls that found nothing.
  virtual std::chrono::nanoseconds max_sleep(unsigned idle_polls) noexcept = 0;

  // A file descriptor that the sleeping poller waits for; -1 if there is none. After arm() has
  // returned true, the descriptor becomes readable when something arrives. If arm() returns false,
  // something may have arrived already, and poll() must be called before the next arm().
  virtual int descriptor() noexcept { return -1; }
  virtual bool arm() noexcept { return true; }
};

// What the watchdog does if no task can ever run again.
enum class deadlock_action : std::uint8_t { none, report, end_process };

struct config {
  int workers = 1;
  std::size_t stack_bytes = std::size_t{1} << 20;
  // How many tasks the deque of a worker has room for at first, and how many at most.
  std::size_t deque_slots = std::size_t{1} << 20;
  std::size_t deque_slots_most = std::size_t{1} << 40;
  std::chrono::nanoseconds spin{50'000};  // a worker searches this long before it sleeps
  std::vector<int> bound_to = {};  // the processor of each worker; empty: workers are not bound
  bool oversubscribed = false;     // more workers than processors: searching workers yield
  bool asymmetric_fence = true;    // use membarrier where it is available
  external_events* events = nullptr;
  // The owner of the locks that tasks and the events take for each message. The worker becomes it
  // if it is the only one and all threads of the process share one processor.
  std::shared_ptr<base::lock_owner> network_locks = std::make_shared<base::lock_owner>();
  bool progress_thread = false;  // a dedicated thread waits for the events and polls for them
  void* environment = nullptr;   // see scheduler::environment
  // Measures what is not free: how long serialisation takes (module places does that), and how far
  // stacks were used whose memory is given back.
  bool detailed_statistics = false;
  // If no task runs for this long while some wait, watchdog_report is called, on a thread of the
  // watchdog, with lines that say what they wait for. 0: never.
  std::chrono::milliseconds watchdog_patience{0};
  std::function<void(const std::string&)> watchdog_report = {};
  // The same if no task can ever run again, also without watchdog_patience; after the report,
  // end_process() is called if that is the action. Only for a program of one place, since another
  // place could send something.
  deadlock_action on_deadlock = deadlock_action::none;
  void (*end_process)() noexcept = nullptr;
  bool only_place = false;
  bool report_on_signal = false;      // report at once when the process receives SIGQUIT
  task_observer* observer = nullptr;  // the first argument of scheduler::observe()
  // The schedule of a run with a seed, which outlives the scheduler; null: workers run at the same
  // time. Sets asymmetric_fence and oversubscribed; needs a watchdog_report. And the number of the
  // place in it.
  seeded_schedule* schedule = nullptr;
  int place = 0;
  // Called if a task, or a call on a helper thread, calls std::exit: on that thread, before the
  // first static object is destroyed. Null: nothing is called.
  void (*on_exit)() noexcept = nullptr;
};

// Counters since the start, summed over the workers.
struct statistics {
  std::uint64_t inlined_tasks = 0;   // run without the scheduling loop
  std::uint64_t loop_tasks = 0;      // run by it
  std::uint64_t steal_attempts = 0;  // at workers that seemed to have tasks
  std::uint64_t steals = 0;          // successful ones
  std::uint64_t stolen = 0;          // tasks that were taken by them
  std::uint64_t fences = 0;          // heavy fences for steals, as the victim did not answer
  std::uint64_t sleep_fences = 0;    // heavy fences of workers about to sleep
  std::uint64_t other_fences = 0;    // those of the network's locks, its poller and of reports
  std::uint64_t suspensions = 0;     // of tasks; switches within a batch do not count
  std::uint64_t drains = 0;          // see drain.cpp
  std::uint64_t sleeps = 0;          // times that a worker went to sleep
  std::uint64_t wakeups = 0;         // times that another thread woke it
  std::uint64_t fibers = 0;          // fibers that were created rather than taken from a cache
  std::uint64_t polls = 0;           // of the network and the timers
  std::uint64_t asleep_ns = 0;       // the time that workers slept, all together
  std::uint64_t clock_phases = 0;    // that ended at this place, where their clock was made
  std::uint64_t phaser_phases = 0;
  std::uint64_t clock_waits = 0;  // of tasks for phases in a batch, which are no `suspensions`
  std::uint64_t phaser_waits = 0;
  std::uint64_t serialization_ns = 0;  // with config::detailed_statistics
  std::uint64_t elapsed_ns = 0;        // since the workers were started
};

class scheduler {
 public:
  // Starts the workers.
  // Throws: launch_error if the system refuses threads, memory or the trace file.
  explicit scheduler(const config& c);
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;
  // Stops the workers. Requires: no task is left. Context: a thread that is not a worker.
  ~scheduler();

  // Tells `observer` from now on what tasks and workers do, in place of the observer before; null:
  // nobody. It must outlive the scheduler, also if another one takes its place. Context: any
  // thread; one at a time.
  APGAS_API void observe(task_observer* observer) noexcept;

  // Makes `work` ready; a worker will run it. Context: any thread.
  APGAS_API void submit(external_task* work) noexcept;
  // The same for external_events::poll(). If the scheduling loop of a worker without other work
  // polls, and no other external task is waiting, it runs `work` next, without the queue.
  // Context: inside poll().
  APGAS_API void submit_from_poll(external_task* work) noexcept;
  // Tells the workers that an event may have arrived, so that one of them polls soon.
  // Context: any thread.
  void wake() noexcept;
  // Tells the fallback poller that events->pending() may have become true, so that it polls even
  // while all workers are busy.
  // Context: any thread.
  void keep_polling() noexcept;
  // Makes the next worker that is between two tasks poll. Context: worker.
  void request_poll() noexcept;
  // Submits `work` at the time `when`, never earlier. Throws: std::bad_alloc. Context: any thread.
  void submit_at(std::chrono::steady_clock::time_point when, external_task* work);
  // Cancels submit_at(when, work). Returns false if the work has run already or will still run.
  // Context: any thread.
  bool cancel_at(std::chrono::steady_clock::time_point when, external_task* work) noexcept;

  // The time that submit_at() refers to: that of the steady clock, or virtual time with a seeded
  // schedule. Context: any thread.
  std::chrono::steady_clock::time_point now() noexcept;
  // The schedule of a run with a seed, else null.
  seeded_schedule* schedule() noexcept;

  // Runs `work` on a helper thread, where it may block. `work` must not throw.
  // Throws: std::system_error if a new thread is needed and the system refuses it.
  // Context: any thread.
  void run_on_helper(std::function<void()> work);

  // Stops every worker but the calling one, and the network, for good, in a process that ends by
  // std::exit while there are tasks. A worker stops when it next chooses work; a task that computes
  // is not interrupted. Returns whether all workers have stopped within `patience`.
  // Context: any thread, once.
  bool halt(std::chrono::milliseconds patience) noexcept;

  APGAS_API int num_workers() const noexcept;
  // Requires: 0 <= id < num_workers().
  worker& worker_at(int id) noexcept;
  // The object of the layer above to which the tasks of this scheduler belong.
  void* environment() const noexcept { return environment_; }
  void set_environment(void* e) noexcept { environment_ = e; }
  // Context: any thread.
  statistics stats() const;
  // The suspensions by construct. Throws: std::bad_alloc. Context: any thread.
  std::vector<construct_waits> waits() const;
  // The most that tasks have used of a stack, in bytes: whole pages. Of stacks whose memory was
  // given back, this is known with config::detailed_statistics only. Context: any thread.
  // Cost: a system call for each stack that was ever made.
  std::size_t deepest_stack() const;

  struct implementation;
  implementation& internals() noexcept { return *implementation_; }

 private:
  void* environment_ = nullptr;
  // Workers use this pointer until the destructor of the implementation has joined them. The one
  // inside std::unique_ptr would not do: libc++ sets it to null before it deletes the object.
  implementation* const implementation_;
  std::unique_ptr<implementation> owner_;
};

// The time from which a task computes the deadline of a timed wait: scheduler::now() of its
// scheduler. On other threads that of the steady clock. Context: any thread.
APGAS_API std::chrono::steady_clock::time_point time_of_task() noexcept;
// Whether that time is virtual. Context: any thread.
APGAS_API bool has_virtual_time() noexcept;

}  // namespace apgas::inline v0::scheduler
