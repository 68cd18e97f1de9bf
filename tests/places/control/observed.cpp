// SPDX-License-Identifier: Apache-2.0
// A program that control_test.py looks at while it runs. It prints a line when its tasks are in the
// state that its first argument names, and ends when its standard input does.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include <unistd.h>

#include <apgas/apgas.hpp>

namespace {

std::atomic<bool> over{false};

// Not inlined, so that a backtrace shows it.
[[gnu::noinline]] void wait_deeply(apgas::latch& gate) {
  gate.wait();  // latch
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

std::atomic<int> computing_now{0};

[[gnu::noinline]] void compute() {
  ++computing_now;
  while (!over.load(std::memory_order_relaxed)) {
  }
}

// The state is reached when so many tasks compute.
void wait_for_the_end_of_input(int computing = 0) {
  apgas::blocking([computing] {
    while (computing_now < computing) usleep(1'000);
    std::puts("ready");
    std::fflush(stdout);
    char c = 0;
    while (read(STDIN_FILENO, &c, 1) == 1) {
    }
    over = true;  // here, since all workers may compute
  });
}

// Three tasks of each place wait for a latch, one for a semaphore, and four for a phase of a clock.
void suspend_tasks(apgas::latch& gate, apgas::semaphore& permits) {
  for (int i = 0; i < 3; ++i) {
    apgas::async([&gate] { wait_deeply(gate); });  // spawn of waiting
  }
  apgas::async(apgas::name("writer"), [&permits] {  // spawn of writer
    permits.acquire();                              // acquire
  });
}

struct waiting_place {
  apgas::latch gate{1};
  apgas::semaphore permits{0};
};

void suspended() {
  const auto at_each =
      apgas::place_local<waiting_place>::make(apgas::places(), [] { return waiting_place(); });
  const auto c = apgas::clock::make();  // clock made
  apgas::finish([&] {
    for (apgas::place p : apgas::places()) {
      apgas::async_at(p, [at_each] { suspend_tasks(at_each->gate, at_each->permits); });
    }
    for (int i = 0; i < 4; ++i) {
      apgas::async(apgas::clocked(c), [c] { c.advance(); });  // advance
    }
    wait_for_the_end_of_input();
    c.advance();
    for (apgas::place p : apgas::places()) {
      apgas::at(p, [at_each] {
        at_each->permits.release();
        at_each->gate.count_down();
      });
    }
    c.drop();
  });
}

// Three coroutines wait for a promise without a stack, and one for a phase of a clock.
void coroutines() {
  apgas::promise<int> value;
  const auto c = apgas::clock::make();
  const auto reader = [](apgas::future<int> of) -> apgas::task<> {
    static_cast<void>(co_await of);  // co_await
  };
  const auto advancing = [](apgas::clock of) -> apgas::task<> {
    co_await of.advance_awaitable();  // awaited phase
  };
  const auto of = value.get_future();
  apgas::finish([&] {
    for (int i = 0; i < 3; ++i) apgas::async(apgas::name("reader"), reader(of));  // readers
    apgas::async(apgas::clocked(c), advancing(c));  // spawn of advancing
    wait_for_the_end_of_input();
    c.drop();
    value.set_value(1);
  });
}

// Thirty tasks of each place wait, each with a name of its own.
void named() {
  static const auto names = [] {
    std::array<std::string, 30> all;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = "reader " + std::to_string(i);
    return all;
  }();
  const auto at_each =
      apgas::place_local<waiting_place>::make(apgas::places(), [] { return waiting_place(); });
  apgas::finish([&] {
    for (apgas::place p : apgas::places()) {
      apgas::async_at(p, [at_each] {
        for (const std::string& each : names) {
          apgas::async(apgas::name(each.c_str()), [at_each] { at_each->gate.wait(); });
        }
      });
    }
    wait_for_the_end_of_input();
    for (apgas::place p : apgas::places()) apgas::at(p, [at_each] { at_each->gate.count_down(); });
  });
}

int fib(int n) {
  if (n < 2) return n;
  int left = 0;
  int right = 0;
  apgas::finish([&] {
    apgas::async([&left, n] { left = fib(n - 1); });  // spawn of fib
    right = fib(n - 2);
  });
  return left + right;
}

// A task of many phases at each place begins before any trace.
void phases_until_the_end() {
  apgas::clocked_finish([] {
    for (int i = 0; i < 3; ++i) {
      apgas::clocked_async([] {
        while (!over.load(std::memory_order_relaxed)) {
          apgas::clock::advance_all();
          apgas::sleep_for(std::chrono::milliseconds(1));
        }
      });
    }
  });
}

// Waits without a stack, unless the values are there already.
apgas::task<> sum_of_two(int n) {
  const auto first = apgas::async_future([n] { return fib(n % 6); });
  const auto second = apgas::async_future([] { return fib(5); });
  static_cast<void>(co_await second + co_await first);
}

void step() {
  apgas::finish([] {
    for (apgas::place p : apgas::places()) {
      apgas::async_at(p, [](int n) { fib(n); }, 6);
    }
  });
  for (apgas::place p : apgas::places()) {
    apgas::at(p, [] { apgas::forall(0, 100, [](int) {}); });
  }
  apgas::fork_join([] { return fib(4); }, [] { return fib(4); });
  apgas::finish([] {
    for (int i = 0; i < 10; ++i) apgas::async(sum_of_two(i));
  });
}

// Tasks of many constructs come and go at all places.
void working() {
  apgas::finish([] {
    apgas::async([] {
      while (!over.load(std::memory_order_relaxed)) {
        apgas::finish([] { apgas::async([] { step(); }); });
        apgas::sleep_for(std::chrono::milliseconds(5));
      }
    });
    apgas::async([] { phases_until_the_end(); });
    wait_for_the_end_of_input();
  });
}

// More tasks than workers compute, so that no task starts any more.
void computing() {
  apgas::finish([] {
    for (int i = 0; i < 8; ++i) apgas::async([] { compute(); });  // spawn of computing
    wait_for_the_end_of_input(apgas::num_workers());
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  return apgas::run(argc, argv, [mode] {
    if (mode == "computing") return computing();
    if (mode == "named") return named();
    if (mode == "coroutines") return coroutines();
    mode == "working" ? working() : suspended();
  });
}
