// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/config.hpp>

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

// The begin and the end of a program.
namespace apgas::inline v0 {

namespace detail {
int run_program(int argc, char** argv, const config& defaults,
                const std::function<int(int, char**)>& main);

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
// every place has ended: at each place with the same exit code, which is main's int, 0, or 1 when an
// exception left main (place 0 prints it then).
//
// Under a launcher (mpirun, srun) each process is a place, and all call run in the same order.
// Without one the program is one place; APGAS_PLACES=n starts the same command line under mpirun, and
// with APGAS_TRANSPORT=local runs n places in this process. It may be called again after it returned.
//
// Throws: launch_error when the program cannot start as asked, at every place.
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
