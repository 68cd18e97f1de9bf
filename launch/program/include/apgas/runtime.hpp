// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>
#include <memory>
#include <source_location>
#include <type_traits>
#include <utility>

#include <apgas/base/api.hpp>
#include <apgas/config.hpp>
#include <apgas/launch/root_call.hpp>

// Starting without taking over main: for test frameworks, plug-ins, modules of other languages and
// programs with an event loop of their own.
namespace apgas::inline v0 {

namespace launch {
class runtime_core;
}

// The workers of this process, and with them its place or places, for as long as the object lives.
// A process has one at a time, and not while apgas::run is active. One may follow another.
//
//   int main(int argc, char** argv) {
//     apgas::runtime runtime(argc, argv);
//     if (runtime.place_id() != 0) return runtime.serve();
//     std::future<int> answer = runtime.submit([] { return 42; });       // goes on at once
//     const int places = runtime.run([] { return apgas::num_places(); });
//     assert(apgas::runtime::active() && places == runtime.num_places());
//     std::cout << answer.get() << '\n';
//     return runtime.stop();
//   }
//
// Places. Without a launcher the program is one place; APGAS_TRANSPORT=local with APGAS_PLACES=n
// makes n places of this process. Under a launcher (mpirun, srun, apgas-run) each process is a
// place: all make the object, in the same order with other objects and calls of apgas::run. Place 0
// goes on with the program. The others call serve(), or leave that to their destructor, or never
// leave the constructor (config::serve_and_exit).
//
// Processes. A process that was forked while the object existed does not have its threads. There
// run(), submit(), serve(), stop() and a new object throw illegal_operation, and the destructor
// does nothing.
//
// Exit. With one place a task may call std::exit: the process ends with that code. The workers are
// stopped before static objects are destroyed; a task that computes for more than 100 ms on another
// worker may see them go. With several places an exit ends the job, with a line that says so.
class APGAS_API runtime {
 public:
  // Starts the workers, together with the other places. The settings are those of apgas::run; the
  // environment wins over `defaults`. With argc and argv, APGAS_PLACES=n without a launcher runs
  // the same command line under Open MPI's mpirun and ends this process with its code, so that the
  // constructor does not return. Without them it throws.
  //
  // Throws: launch_error when the program cannot start as asked, at every place of the job; place 0
  // throws first, so that its program can say why. What one place alone finds after that,
  // such as no memory for its workers, ends the job with a line and the code 2, as with run.
  // illegal_operation when one is active, or apgas::run; when a task calls; in a forked process.
  // Context: a thread that is no worker. Blocks. Cost: some milliseconds, and what MPI takes to
  // start.
  explicit runtime(const config& defaults = {});
  runtime(int argc, char** argv, const config& defaults = {});
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  // stop(0) at place 0, serve() elsewhere, unless that was called. Destroyed by one of its own
  // tasks it ends the job with a line, since it would wait for that task. Throws nothing.
  // Context: a thread that is no worker; after, or on, the threads that call the other functions.
  ~runtime();

  // Runs f() as a task of place 0 under a finish of its own, waits for it and for all that it
  // spawned at every place, and returns its value; a reference stays one. Several threads may call
  // at once. Called by a task, at any place, it is finish(f): it runs f there and suspends.
  //
  // Throws: multiple_exceptions with everything that f and its tasks threw, as finish does.
  // illegal_operation at a place other than 0, after the end has begun, and in a forked process.
  // Context: any thread, which it blocks; a task, which it suspends.
  // Cost: about 1 us while a worker searches for work, some 20 us where one must be woken; in a
  // task that of finish.
  template <class F>
  auto run(F f, std::source_location site = std::source_location::current())
      -> std::invoke_result_t<F&> {
    launch::kept_result<std::invoke_result_t<F&>> result;
    auto body = [&] { result.keep(f); };
    run_body([](void* of) { (*static_cast<decltype(body)*>(of))(); }, &body, site);
    return result.take();
  }

  // The same without waiting: returns a future of the value. Its get() blocks the thread, so a task
  // must not use it: submit throws illegal_operation there; async_future has a future for tasks.
  // Context: any thread that is no worker.
  template <class F>
  auto submit(F f, std::source_location site = std::source_location::current())
      -> std::future<std::invoke_result_t<F&>> {
    auto call = std::make_unique<launch::submitted<F>>(std::move(f));
    auto future = call->get_future();
    submit_call(std::move(call), site);
    return future;
  }

  // At places other than 0: runs the tasks that are sent here until place 0 ends the program, and
  // returns the program's code; again at once when called again. At place 0 it returns 0 at once.
  // Throws: illegal_operation when a task calls, and in a forked process.
  // Context: a thread that is no worker, which it blocks.
  int serve();

  // The orderly end, at place 0: waits for all calls of run and submit, and for all tasks at all
  // places, those of uncounted_async_at included; then all places end. Returns the program's code,
  // which is what serve() returns elsewhere: `code`, or 1 where an uncounted task or a future that
  // nobody looked at had thrown; that is printed, as run does. Called again it returns that code.
  //
  // Throws: illegal_operation at a place other than 0, when a task calls, and in a forked process.
  // Context: a thread that is no worker, which it blocks.
  // Cost: beside the wait, a message to each other place, along a tree.
  int stop(int code = 0);

  // The number of this process's place (0 where all places share the process), and of all places.
  // For threads outside tasks, where here() and num_places() are not; also after the end.
  // Context: any thread.
  int place_id() const noexcept;
  int num_places() const noexcept;

  // Whether an object of this class is active in this process: made, and its end not complete.
  // Context: any thread.
  static bool active() noexcept;

 private:
  void run_body(void (*body)(void*), void* object, std::source_location site);
  void submit_call(std::unique_ptr<launch::submitted_call> call, std::source_location site);

  std::unique_ptr<launch::runtime_core> core_;
};

}  // namespace apgas::inline v0
