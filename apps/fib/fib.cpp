// SPDX-License-Identifier: Apache-2.0

// Fibonacci numbers by their recursive definition. A task does almost nothing, so this measures the
// cost of a spawn.

#include <cstdint>
#include <string>

#include <apgas/apgas.hpp>

#include "support/command_line.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"

namespace {

std::int64_t fib_serial(int n) { return n < 2 ? n : fib_serial(n - 1) + fib_serial(n - 2); }

// Arguments and results are passed by value: if nothing is stolen, the compiler can keep everything
// in registers.
std::int64_t fib_fork_join(int n) {
  if (n < 2) return n;
  const auto [a, b] = apgas::fork_join([n] { return fib_fork_join(n - 1); },  //
                                       [n] { return fib_fork_join(n - 2); });
  return a + b;
}

std::int64_t fib_finish(int n) {
  if (n < 2) return n;
  std::int64_t a = 0;
  std::int64_t b = 0;
  apgas::finish([&] {
    apgas::async([&a, n] { a = fib_finish(n - 1); });
    b = fib_finish(n - 2);
  });
  return a + b;
}

// The expected result, computed independently.
std::int64_t fib_by_addition(int n) {
  std::int64_t current = 0;
  std::int64_t next = 1;
  for (int i = 0; i < n; ++i) {
    const std::int64_t sum = current + next;
    current = next;
    next = sum;
  }
  return current;
}

std::int64_t compute(const std::string& variant, int n) {
  if (variant == "finish") return fib_finish(n);
  if (variant == "serial") return fib_serial(n);
  return fib_fork_join(n);
}

int compute_and_report(const std::string& variant, int n) {
  const apps::stopwatch clock;
  const std::int64_t result = compute(variant, n);
  const double seconds = clock.seconds();
  // There is one spawn for each addition: fib(n + 1) - 1 in all.
  const std::int64_t tasks = variant == "serial" ? 0 : fib_by_addition(n + 1) - 1;
  return apps::report("fib", seconds, result == fib_by_addition(n),
                      {{"variant", variant}, {"n", n}, {"result", result}, {"tasks", tasks}});
}

}  // namespace

int main(int argc, char** argv) {
  int n = 30;
  std::string variant = "fork_join";
  apps::command_line line("fib", "Fibonacci numbers by recursion, a task per addition.");
  line.option("-n,--n", n, 0, 60, "which Fibonacci number");
  line.choice("--variant", variant, {"fork_join", "finish", "serial"}, "how to recurse");
  if (const auto code = line.parse(argc, argv)) return *code;
  return apgas::run(argc, argv, [&] { return compute_and_report(variant, n); });
}
