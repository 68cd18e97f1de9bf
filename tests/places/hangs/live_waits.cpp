// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <mutex>
#include <thread>

#include <apgas/apgas.hpp>

#include "live.hpp"

namespace apgas::test {
namespace {

using namespace std::chrono_literals;

constexpr auto late = 2500ms;  // in virtual time
constexpr auto moment = 200us;

void sleeps() { sleep_for(late); }

void sleep_of_each_task() {
  finish([] {
    for (int i = 0; i < 5; ++i) async([i] { sleep_for(i * late); });
  });
}

void semaphore_in_time() {
  semaphore s(0);
  finish([&] {
    async([&] {
      sleep_for(late);
      s.release();
    });
    s.acquire();
  });
}

void semaphore_too_late() {
  semaphore s(0);
  static_cast<void>(s.try_acquire_for(late));
}

void semaphore_about_in_time() {
  semaphore s(0);
  finish([&] {
    async([&] {
      sleep_for(late);
      s.release();
    });
    while (!s.try_acquire_for(late)) yield();
  });
}

void locked_for_long() {
  mutex m;
  finish([&] {
    for (int i = 0; i < 3; ++i) {
      async([&] {
        m.lock();
        sleep_for(late);
        m.unlock();
      });
    }
  });
}

void lock_too_late() {
  mutex m;
  finish([&] {
    m.lock();
    async([&] {
      while (!m.try_lock_for(late / 4)) yield();
      m.unlock();
    });
    sleep_for(late);
    m.unlock();
  });
}

void readers_and_writer() {
  shared_mutex m;
  finish([&] {
    for (int i = 0; i < 3; ++i) {
      async([&] {
        m.lock_shared();
        sleep_for(late);
        m.unlock_shared();
      });
    }
    async([&] {
      m.lock();
      sleep_for(late);
      m.unlock();
    });
  });
}

void condition_notified_late() {
  mutex m;
  condition_variable changed;
  bool done = false;
  finish([&] {
    async([&] {
      sleep_for(late);
      const std::lock_guard hold(m);
      done = true;
      changed.notify_one();
    });
    std::unique_lock hold(m);
    changed.wait(hold, [&] { return done; });
  });
}

void condition_never_notified() {
  mutex m;
  condition_variable changed;
  std::unique_lock hold(m);
  static_cast<void>(changed.wait_for(hold, late));
}

void latch_counted_late() {
  latch all(3);
  finish([&] {
    for (int i = 0; i < 3; ++i) {
      async([&all, i] {
        sleep_for(i * late);
        all.count_down();
      });
    }
    all.wait();
  });
}

void variable_filled_late() {
  sync_var<int> v;
  finish([&] {
    async([&] {
      sleep_for(late);
      v.write_ef(1);
    });
    v.read_fe();
  });
}

void promise_set_late() {
  promise<int> p;
  finish([&] {
    async([&] {
      sleep_for(late);
      p.set_value(1);
    });
    p.get_future().get();
  });
}

void condition_of_when() {
  bool ready = false;
  finish([&] {
    async([&] {
      sleep_for(late);
      atomic([&] { ready = true; });
    });
    when([&] { return ready; }, [] {});
  });
}

void call_that_blocks() {
  blocking([] { std::this_thread::sleep_for(moment); });
}

void many_blocking_calls() {
  finish([] {
    for (int i = 0; i < 4; ++i)
      async([] { blocking([] { std::this_thread::sleep_for(moment); }); });
  });
}

void blocking_call_that_signals() {
  semaphore s(0);
  finish([&] {
    async([&] { blocking([&] { s.release(); }); });
    s.acquire();
  });
}

void task_made_by_a_thread() {
  promise<int> p;
  std::thread other([&] {
    std::this_thread::sleep_for(moment);
    p.set_value(1);
  });
  p.get_future().get();
  other.join();
}

void computation() {
  volatile long sum = 0;
  finish([&] {
    async([&] {
      for (long i = 0; i < 20'000; ++i) sum = sum + i;
    });
  });
}

}  // namespace

std::vector<hang_case> live_waits() {
  return {{"sleeps", sleeps},
          {"sleep_of_each_task", sleep_of_each_task},
          {"semaphore_in_time", semaphore_in_time},
          {"semaphore_too_late", semaphore_too_late},
          {"semaphore_about_in_time", semaphore_about_in_time},
          {"locked_for_long", locked_for_long},
          {"lock_too_late", lock_too_late},
          {"readers_and_writer", readers_and_writer},
          {"condition_notified_late", condition_notified_late},
          {"condition_never_notified", condition_never_notified},
          {"latch_counted_late", latch_counted_late},
          {"variable_filled_late", variable_filled_late},
          {"promise_set_late", promise_set_late},
          {"condition_of_when", condition_of_when},
          {"call_that_blocks", call_that_blocks},
          {"many_blocking_calls", many_blocking_calls},
          {"blocking_call_that_signals", blocking_call_that_signals},
          {"task_made_by_a_thread", task_made_by_a_thread},
          {"computation", computation}};
}

}  // namespace apgas::test
