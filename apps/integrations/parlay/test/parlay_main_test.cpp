// SPDX-License-Identifier: Apache-2.0

// A program of parlaylib that is linked with -Wl,--wrap=main: its main is a task. The argument says
// how it ends.

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <stdexcept>
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

// NOLINTNEXTLINE(bugprone-exception-escape): the test observes how the program ends then
int main(int argc, char** argv) {
  require(argc == 2, 3);
  require(!started_in_task && apgas::scheduler::on_fiber(), 4);
  require(parlay::num_workers() == static_cast<std::size_t>(apgas::num_workers()), 5);
  std::atomic<std::size_t> sum = 0;
  parlay::parallel_for(0, 1000, [&](std::size_t i) { sum += i; });
  require(sum == 499500, 6);
  const std::string_view end = argv[1];
  if (end == "returns") return 17;
  require(end != "exits", 18);
  if (end == "throws") throw std::runtime_error("thrown by main");
}
