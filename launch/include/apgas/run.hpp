// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include <apgas/config.hpp>

// The begin and the end of a program.
namespace apgas::inline v0 {

// What run returns when the program could not be started.
inline constexpr int exit_code_not_started = 2;

namespace detail {
int run_program(int argc, char** argv, const config& defaults,
                const std::function<int(int, char**)>& main);

// Of the processes of a job that does not start, one says why: the first, as launchers count. A
// process that no launcher started speaks for itself.
bool reports_for_job();
// What the others do before they end: a launcher ends the whole job with the first process that
// fails, perhaps before another has spoken.
void let_others_report();

template <class F>
std::function<int(int, char**)> main_function(F& main) {
  if constexpr (std::is_invocable_v<F&, int, char**>) {
    if constexpr (std::is_void_v<std::invoke_result_t<F&, int, char**>>) {
      return [&main](int argc, char** argv) { return main(argc, argv), 0; };
    } else {
      return [&main](int argc, char** argv) -> int { return main(argc, argv); };
    }
  } else {
    static_assert(std::is_invocable_v<F&>,
                  "the main function of apgas::run takes nothing or (int, char**), and returns "
                  "nothing or int");
    if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
      return [&main](int, char**) { return main(), 0; };
    } else {
      return [&main](int, char**) -> int { return main(); };
    }
  }
}
}  // namespace detail

// Runs main as the first task, at place 0, under the root finish, and returns when every task at
// every place has ended: at each place with the same exit code, which is main's int, 0, or 1 when
// an exception left main (place 0 prints it then). When the program cannot start as asked (a
// setting, no mpirun, places that do not fit together), one line on standard error says why, main
// is not run, and the code is 2 at every place; so `return apgas::run(...)` is all that an int main
// needs.
//
// Under a launcher (mpirun, srun) each process is a place, and all call run in the same order.
// Without one the program is one place; APGAS_PLACES=n runs the same command line under Open MPI's
// mpirun and ends with its code, so that nothing after run is done in the process that was started;
// with APGAS_TRANSPORT=local it runs n places in this process. It may be called again after it
// returned.
//
// A place that dies, exits or fails in the runtime while the program runs ends the job, with a code
// that is not 0.
//
// Throws: illegal_operation when it is called by a task, or while it is active in another thread.
// Context: the thread that called the program's main; not a task.
template <class F>
int run(int argc, char** argv, const config& defaults, F main) {
  return detail::run_program(argc, argv, defaults, detail::main_function(main));
}

template <class F>
  requires(!std::is_convertible_v<F, config>)
int run(int argc, char** argv, F main) {
  return run(argc, argv, config{}, std::move(main));
}

}  // namespace apgas::inline v0
