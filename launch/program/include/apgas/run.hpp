// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include <apgas/base/api.hpp>
#include <apgas/config.hpp>

// How a program starts the runtime.
namespace apgas::inline v0 {

namespace detail {
APGAS_API int run_program(int argc, char** argv, const config& defaults,
                          const std::function<int(int, char**)>& main);

// Whether this process reports why a job does not start. Under a launcher only process 0 does;
// without one every process does.
APGAS_API bool reports_for_job();
// Waits before this process ends without a report, so that process 0 can report first: a launcher
// ends the whole job when one process fails.
APGAS_API void let_others_report();

template <class F>
std::function<int(int, char**)> main_function(F& main) {
  if constexpr (std::is_invocable_v<F&, int, char**>) {
    if constexpr (std::is_void_v<std::invoke_result_t<F&, int, char**>>) {
      return [&main](int argc, char** argv) { return main(argc, argv), 0; };
    } else {
      return [&main](int argc, char** argv) -> int { return main(argc, argv); };
    }
  } else if constexpr (!std::is_invocable_v<F&>) {
    static_assert(std::is_invocable_v<F&>,
                  "apgas: the main function of apgas::run takes nothing or (int, char**), and "
                  "returns nothing or int");
  } else {
    if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
      return [&main](int, char**) { return main(), 0; };
    } else {
      return [&main](int, char**) -> int { return main(); };
    }
  }
}
}  // namespace detail

// Runs `main` as the first task, at place 0, under the root finish (as X10 runs main), and returns
// when every task at every place has ended. `main` takes no arguments or (int, char**), and returns
// nothing or int. `argc` and `argv` are those of the program: a process that runs the program again
// under mpirun passes them on. `defaults` has settings; environment variables override them.
//
// Returns the same exit code at every place: the value of `main`, or 0 if it returns nothing, or 1
// if an exception left it, which place 0 then prints. If the program cannot start as requested (an
// invalid setting, no mpirun, places that do not match), one line on standard error says why,
// `main` is not run, and the code is exit_code_not_started at every place. So `return
// apgas::run(...)` is all that the main function of the program needs.
//
//   int main(int argc, char** argv) {
//     return apgas::run(argc, argv, [] { std::cout << "hello from " << apgas::here() << '\n'; });
//   }
//
// Under a launcher (mpirun, srun) each process is a place, and all must call run in the same order.
// Without a launcher the program is one place. With APGAS_PLACES=n, run executes the same command
// line under the mpirun of Open MPI and ends the process with its code, so that code after run does
// not execute in that process. With APGAS_TRANSPORT=local as well, it runs n places in this
// process. run may be called again after it has returned.
//
// A place that dies, exits or fails in the runtime while the program runs ends the job with a code
// that is not 0.
//
// Throws: illegal_operation if a task calls it, or while another call is active.
// Context: the thread that runs the program's main; not a task. Blocks the thread.
// Cost: starts and joins the worker threads; under a launcher also MPI, once in a process.
template <class F>
int run(int argc, char** argv, const config& defaults, F main) {
  return detail::run_program(argc, argv, defaults, detail::main_function(main));
}

// The same with the usual settings.
template <class F>
  requires(!std::is_convertible_v<F, config>)
int run(int argc, char** argv, F main) {
  return run(argc, argv, config{}, std::move(main));
}

// A call without the arguments of the program does not compile, and one sentence of the compiler
// says why.
template <class F>
auto run(F) {
  static_assert(sizeof(F) == 0,
                "apgas: run takes the arguments of the program and its main function: "
                "apgas::run(argc, argv, [] { ... })");
  return 0;
}

}  // namespace apgas::inline v0
