// SPDX-License-Identifier: Apache-2.0
// A program that aborts while its tasks wait, for gdb_test.py.
#include <chrono>
#include <cstdlib>

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

// Each task begins before the next is spawned, so that gdb shows them in this order.
void suspend_all() {
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
    apgas::sleep_for(200ms);  // until the tasks wait
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
  const bool drains = argc > 1;
  return apgas::run(argc, argv, [drains] { drains ? drain() : suspend_all(); });
}
