// SPDX-License-Identifier: Apache-2.0
#pragma once

// parallel_for within a task. parlaylib calls it for loops of any length, also for copies of a
// hundred elements in the leaves of a recursion, and leaves it to the scheduler to find out how
// much work an iteration is.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <source_location>

#include <apgas/forall.hpp>

#include "apgas_parlay_runtime.hpp"

namespace apgas_parlay {

// The least work of a task: large beside a fork (2 ns) and the steal of a branch (some 100 ns).
inline constexpr std::chrono::nanoseconds least_work{1000};

// Runs iterations from `first` on, in groups of 1, 2, 4, ..., until they have taken `least_work`
// or all have run. Afterwards `first` is the first iteration that has not run.
// Throws: what f throws; `first` is then the iteration that threw.
template <class F>
void run_first_iterations(std::size_t& first, std::size_t last, F& f) {
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t group = 1; first < last; group *= 2) {
    const std::size_t end = first + std::min(group, last - first);
    for (; first < end; ++first) f(first);
    if (std::chrono::steady_clock::now() - start >= least_work) return;
  }
}

template <class F>
void loop_of_tasks(std::size_t first, std::size_t last, F& f, std::size_t least);

// Completes a loop whose iteration `failed` threw the exception that is being handled: runs those
// after it and throws everything that was thrown. Context: a catch block.
template <class F>
[[noreturn, gnu::noinline, gnu::cold]] void loop_failed(std::size_t failed, std::size_t last,
                                                        F& f) {
  apgas::sync::branch_failures failures(std::source_location::current());
  failures.add();
  try {
    if (failed + 1 < last) loop_of_tasks(failed + 1, last, f, 1);
  } catch (...) {
    failures.add();
  }
  failures.raise();
}

// Runs f(i) for all i of [first, last), also if some of them throw. It is not inlined into the code
// that splits a loop, where f would have too few registers.
template <class F>
[[gnu::noinline]] void run_block(std::size_t first, std::size_t last, F& f) {
  try {
    for (; first < last; ++first) f(first);
  } catch (...) {
    loop_failed(first, last, f);
  }
}

// Runs f(i) for all i of [first, last), which is not empty, in blocks of `least` iterations, the
// last of which may be shorter.
template <class F>
void loop_of_tasks(std::size_t first, std::size_t last, F& f, std::size_t least) {
  const std::size_t blocks = (last - first - 1) / least + 1;
  apgas::forall(
      std::size_t{0}, blocks,
      [first, last, &f, least](std::size_t block) {
        const std::size_t begin = first + block * least;
        run_block(begin, begin + std::min(least, last - begin), f);
      },
      1);
}

// Runs f(i) for all i of [first, last). A task runs at least `least` iterations, unless fewer are
// left or an iteration has thrown; 0 leaves the number to the loop, which measures its first
// iterations and, like parlaylib, makes no more than 128 chunks for each worker. Throws:
// apgas::multiple_exceptions. Context: task; may suspend and resume on another worker.
template <class F>
void loop(std::size_t first, std::size_t last, F& f, std::size_t least) {
  if (least == 0) {
    const std::size_t start = first;
    try {
      run_first_iterations(first, last, f);
    } catch (...) {
      loop_failed(first, last, f);
    }
    if (first == last) return;
    const std::size_t chunks = 128 * static_cast<std::size_t>(apgas::num_workers());
    least = std::max(first - start, (last - first) / chunks);
  }
  loop_of_tasks(first, last, f, least);
}

// The same for any thread: outside tasks it starts a task, and after the end of the runtime the
// loop is serial. It is not inlined, so that parallel_for is, and a short loop calls nothing.
template <class F>
[[gnu::noinline]] void parallel_loop(std::size_t first, std::size_t last, F& f, std::size_t least) {
  if (cannot_start()) {
    for (; first < last; ++first) f(first);
  } else {
    in_task([&] { loop(first, last, f, least); });
  }
}

}  // namespace apgas_parlay
