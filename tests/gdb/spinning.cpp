// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include <apgas/apgas.hpp>

// For perf_test.py: tasks that were suspended and resumed compute for half a second, in work(),
// which outer_work() calls.

[[gnu::noinline]] bool work(std::chrono::steady_clock::time_point until) {
  for (volatile int i = 0; i < 10'000;) i = i + 1;
  return std::chrono::steady_clock::now() < until;
}

[[gnu::noinline]] void outer_work() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  while (work(until)) {
  }
}

int main(int argc, char** argv) {
  return apgas::run(argc, argv, [] {
    apgas::finish([] {
      for (int i = 0; i < 4; ++i) {
        apgas::async([] {
          for (int k = 0; k < 10; ++k) apgas::yield();
          outer_work();
        });
      }
    });
  });
}
