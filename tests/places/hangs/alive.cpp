// SPDX-License-Identifier: Apache-2.0
#include <chrono>
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

void computation() {
  const auto end = std::chrono::steady_clock::now() + 2500ms;
  finish([&] {
    async([&] {
      while (std::chrono::steady_clock::now() < end) {
      }
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
          {"thread_from_before", thread_from_before, start_thread},
          {"many_pauses", many_pauses}};
}

}  // namespace apgas::test
