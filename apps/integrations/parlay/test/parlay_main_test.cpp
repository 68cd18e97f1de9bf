// SPDX-License-Identifier: Apache-2.0

// A program of parlaylib that is linked with -Wl,--wrap=main: its main is a task. It is called with
// one argument, and it has no return statement, as programs of parlaylib seldom do.

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <string_view>

#include <parlay/parallel.h>

#include <apgas/apgas.hpp>

namespace {

void require(bool holds, int code) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): a task may call it
  if (!holds) std::exit(code);
}

// What static objects compute before main is no part of the task.
const bool started_in_task = apgas::scheduler::on_fiber();

}  // namespace

int main(int argc, char** argv) {
  require(argc == 2 && std::string_view(argv[1]) == "argument", 3);
  require(!started_in_task && apgas::scheduler::on_fiber(), 4);
  require(parlay::num_workers() == static_cast<std::size_t>(apgas::num_workers()), 5);
  std::atomic<std::size_t> sum = 0;
  parlay::parallel_for(0, 1000, [&](std::size_t i) { sum += i; });
  require(sum == 499500, 6);
}
