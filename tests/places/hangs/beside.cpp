// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <vector>

#include <apgas/apgas.hpp>

#include "cases.hpp"

// Programs in which some tasks wait for each other while others run, and programs that look so.
namespace apgas::test {
namespace {

using namespace std::chrono_literals;

// Longer than any of these tests waits.
constexpr auto for_long = 60s;
// Long enough for the watchdog to look at a wait twice.
constexpr auto for_some_looks = 4500ms;

void compute(std::chrono::steady_clock::duration d) {
  const auto end = std::chrono::steady_clock::now() + d;
  while (std::chrono::steady_clock::now() < end) {
  }
}

void pause_often(std::chrono::steady_clock::duration d) {
  const auto end = std::chrono::steady_clock::now() + d;
  while (std::chrono::steady_clock::now() < end) sleep_for(20ms);
}

place next() { return places()[(static_cast<std::size_t>(here().id()) + 1) % places().size()]; }
place last() { return places()[places().size() - 1]; }

void futures_beside_computation() {
  async([] { compute(for_long); });
  promise<future<int>> early;
  const future<future<int>> handle = early.get_future();
  const future<int> one = async_future([handle] {  // marks spawn_one
    return handle.get().get() + 1;                 // marks get_one
  });
  const future<int> two = async_future([one] {  // marks spawn_two
    return one.get() + 1;                       // marks get_two
  });
  early.set_value(two);
}

void clock_beside_pauses() {
  async([] { pause_often(for_long); });
  const auto c = clock::make();                              // marks made
  const future<int> phases = async_future(clocked(c), [c] {  // marks spawn_registered
    c.advance();                                             // marks advance
    return 1;
  });
  finish([&] {                      // marks finish
    async([&] { phases.wait(); });  // marks wait
  });
}

// The tasks have gone through phases before, so the others wait in batches.
void later_phase_beside_pauses() {
  async([] { pause_often(for_long); });
  const auto c = clock::make();  // marks made
  std::vector<future<void>> members;
  for (int i = 0; i < 40; ++i) {
    members.push_back(async_future(clocked(c), [c] {        // marks spawn_registered
      for (int phase = 0; phase < 6; ++phase) c.advance();  // marks advance
    }));
  }
  for (int phase = 0; phase < 3; ++phase) c.advance();
  members.front().wait();  // marks wait
}

// A mutex may be unlocked by any task, so this is reported, and is a deadlock only when the pauses
// have ended.
void mutexes_beside_pauses() {
  async([] { pause_often(10s); });
  mutex first;
  mutex second;
  latch both(2);
  finish([&] {
    async([&] {  // marks spawn_one
      first.lock();
      both.arrive_and_wait();
      second.lock();  // marks lock_one
    });
    async([&] {  // marks spawn_two
      second.lock();
      both.arrive_and_wait();
      first.lock();  // marks lock_two
    });
  });
}

void mutex_unlocked_by_another_task() {
  mutex m;
  async([&] {
    pause_often(for_some_looks);
    m.unlock();
  });
  m.lock();
  finish([&] {
    async([&] {
      m.lock();
      m.unlock();
    });
  });
}

// The task that waits for a phase is ready when it has ended, but no worker is free to run it.
void ready_beside_computations() {
  const auto c = clock::make();
  latch registered(2);
  finish([&] {
    for (int i = 0; i < 2; ++i) {
      async(clocked(c), [&, c] {
        registered.arrive_and_wait();
        c.advance();
        compute(for_some_looks);
        c.advance();
      });
    }
    c.advance();
    c.drop();
  });
}

// A chain of waits that ends in a pause, longer than the search looks at once.
int chain(int left) {
  if (left == 0) {
    sleep_for(for_some_looks);
    return 0;
  }
  return async_future([left] { return chain(left - 1) + 1; }).get();
}

void long_chain() {
  if (chain(60) != 60) std::abort();
}

void timed_circle() {
  promise<future<int>> early;
  const future<future<int>> handle = early.get_future();
  const future<int> one = async_future([handle] {
    const future<int> other = handle.get();
    return other.wait_for(for_some_looks) == std::future_status::ready ? 1 : 2;
  });
  const future<int> two = async_future([one] { return one.get() + 1; });
  early.set_value(two);
  two.wait();
}

void clock_beside_busy_place() {
  async_at(last(), [] { compute(for_long); });
  const auto c = clock::make();                          // marks made
  finish([&] {                                           // marks finish
    async_at(next(), clocked(c), [c] { c.advance(); });  // marks advance
  });
}

void futures_of_another_place() {
  async([] { pause_often(for_long); });
  at(next(), [] {  // marks at
    promise<future<int>> early;
    const future<future<int>> handle = early.get_future();
    const future<int> one = async_future([handle] { return handle.get().get() + 1; });  // marks one
    const future<int> two = async_future([one] { return one.get() + 1; });              // marks two
    early.set_value(two);
    two.wait();
  });
}

// While the caller of an `at` waits, its registration is with the body.
void registration_with_the_body() {
  const auto c = clock::make();
  finish([&] {
    async(clocked(c), [c] {
      pause_often(for_some_looks);
      c.advance();
    });
    async(clocked(c), [c] { at(next(), [c] { c.advance(); }); });
    c.drop();
  });
}

}  // namespace

std::vector<hang_case> beside() {
  return {{"futures_beside_computation", futures_beside_computation},
          {"clock_beside_pauses", clock_beside_pauses},
          {"later_phase_beside_pauses", later_phase_beside_pauses},
          {"mutexes_beside_pauses", mutexes_beside_pauses},
          {"mutex_unlocked_by_another_task", mutex_unlocked_by_another_task},
          {"ready_beside_computations", ready_beside_computations},
          {"long_chain", long_chain},
          {"timed_circle", timed_circle}};
}

std::vector<hang_case> beside_places() {
  return {{"clock_beside_busy_place", clock_beside_busy_place},
          {"futures_of_another_place", futures_of_another_place},
          {"registration_with_the_body", registration_with_the_body}};
}

}  // namespace apgas::test
