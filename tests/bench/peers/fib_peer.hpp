// SPDX-License-Identifier: Apache-2.0
#pragma once

// The main function of a C++ peer that computes Fibonacci numbers by tasks; README.md describes the
// arguments and the output.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

namespace peers {

using number = std::int64_t;

// The expected result, computed independently.
inline number serial_fib(int n) {
  number current = 0;
  number next = 1;
  for (int i = 0; i < n; ++i) current = std::exchange(next, current + next);
  return current;
}

// start(workers) returns a function that computes a number with so many threads.
template <class Start>
int fib_main(int argc, char** argv, Start start) {
  if (argc != 4 || std::string(argv[1]) != "fib") {
    std::fprintf(stderr, "usage: %s fib WORKERS N\n", argv[0]);
    return 2;
  }
  const int n = std::atoi(argv[3]);
  auto fib = start(std::atoi(argv[2]));
  bool verified = true;
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i < 4; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    verified = fib(n) == serial_fib(n) && verified;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    if (i > 0) least = std::min(least, spent.count());
  }
  std::printf("{\"seconds\":%.9f,\"verified\":%s}\n", least, verified ? "true" : "false");
  return 0;
}

}  // namespace peers
