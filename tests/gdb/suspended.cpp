// SPDX-License-Identifier: Apache-2.0
// A program that aborts while its tasks wait, for gdb_test.py; or with `lingers` computes on.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <apgas/apgas.hpp>

namespace {

using namespace std::chrono_literals;

// Not inlined, so that a backtrace shows it.
[[gnu::noinline]] int wait_deeply(apgas::latch& gate, int depth) {
  if (depth != 0) return wait_deeply(gate, depth - 1) + 1;
  gate.wait();
  return 0;
}

// Waits without a stack.
apgas::task<> read_later(apgas::future<int> value) {
  static_cast<void>(co_await value);  // coroutines wait
}

// Runs until the process is killed.
[[noreturn, gnu::noinline]] void compute_on() {
  std::puts("computes on");
  std::fflush(stdout);
  for (volatile unsigned long n = 0;;) n = n + 1;
}

// Each task begins before the next is spawned, so that gdb shows them in this order.
void suspend_all(bool lingers) {
  apgas::latch gate(1);
  apgas::semaphore begun(0);
  apgas::mutex held;
  held.lock();
  apgas::promise<int> value;
  const auto c = apgas::clock::make();
  apgas::finish([&] {
    for (int i = 0; i < 3; ++i) {
      apgas::async([&] {
        begun.release();
        wait_deeply(gate, 4);
      });
      begun.acquire();
    }
    apgas::async(apgas::name("writer"), [&] {
      begun.release();
      held.lock();
    });
    begun.acquire();
    apgas::async(apgas::clocked(c), [&, c] {
      begun.release();
      c.advance();
    });
    begun.acquire();
    for (int i = 0; i < 2; ++i) apgas::async(apgas::name("reader"), read_later(value.get_future()));
    apgas::sleep_for(1s);  // until the tasks wait
    if (lingers) compute_on();
    std::abort();
  });
}

// Spawns more tasks than the deque shall hold, so that it is suspended while they run. A finish of
// another task waits.
void drain() {
  apgas::finish([] {
    apgas::async(apgas::name("outer"), [] {
      apgas::finish([] {
        apgas::async([] {
          apgas::sleep_for(50ms);
          for (int i = 0; i < 100'000; ++i) {
            apgas::async(apgas::name("drained"), [i] {
              if (i % 100 == 99) std::abort();
            });
          }
        });
        apgas::yield();  // so that the child starts on another stack
      });
    });
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  return apgas::run(argc, argv,
                    [mode] { mode == "drain" ? drain() : suspend_all(mode == "lingers"); });
}
