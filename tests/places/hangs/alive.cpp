// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <thread>

#include <apgas/apgas.hpp>

#include "cases.hpp"

// Programs in which no task runs for a while, or one for a long time, and that end.
namespace apgas::test {

using namespace std::chrono_literals;

void timed_wait() {
  semaphore s(0);
  static_cast<void>(s.try_acquire_for(2500ms));
}

void blocking_call() {
  blocking([] { std::this_thread::sleep_for(2500ms); });
}

void thread_of_the_program() {
  promise<int> p;
  std::thread other([&] {
    std::this_thread::sleep_for(2500ms);
    p.set_value(1);
  });
  p.get_future().get();
  other.join();
}

namespace {

void timer() { sleep_for(2500ms); }

[[gnu::noinline]] void relax(std::chrono::steady_clock::time_point end) {
  while (std::chrono::steady_clock::now() < end) {
  }
  asm volatile("" ::: "memory");  // not a tail call
}
[[gnu::noinline]] void solve() {
  relax(std::chrono::steady_clock::now() + 2500ms);
  asm volatile("" ::: "memory");
}
void computation() {
  finish([] {
    async(name("relaxation"), [] { solve(); });  // marks spawn
  });
}

// A task that waits in the kernel, in a call that a handler of a signal would end early.
void wait_in_the_kernel() {
  finish([] {
    async([] {
      timespec rest{.tv_sec = 2, .tv_nsec = 500'000'000};
      if (nanosleep(&rest, nullptr) != 0) std::abort();
    });
  });
}

// A thread that began before the run, and that may act at any time.
semaphore& released_later() {
  static semaphore s(0);
  return s;
}
void start_thread() {
  std::thread([&s = released_later()] {
    std::this_thread::sleep_for(2500ms);
    s.release();
  }).detach();
}
void thread_from_before() { released_later().acquire(); }

// Many short sleeps of all workers, each shorter than the patience.
void many_pauses() {
  for (int i = 0; i < 25; ++i) blocking([] { std::this_thread::sleep_for(100ms); });
}

}  // namespace

std::vector<hang_case> alive() {
  return {{"timer", timer},
          {"timed_wait", timed_wait},
          {"blocking_call", blocking_call},
          {"thread_of_the_program", thread_of_the_program},
          {"computation", computation},
          {"wait_in_the_kernel", wait_in_the_kernel},
          {"thread_from_before", thread_from_before, start_thread},
          {"many_pauses", many_pauses}};
}

}  // namespace apgas::test
