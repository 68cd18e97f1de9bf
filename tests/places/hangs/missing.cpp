// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <mutex>
#include <thread>

#include <apgas/apgas.hpp>

#include "cases.hpp"

// Tasks that wait for something that nobody does.
namespace apgas::test {
namespace {

void lost_signal() {
  mutex m;
  condition_variable changed;
  changed.notify_one();  // too early
  std::unique_lock hold(m);
  changed.wait(hold);  // marks wait
}

// A thread that does nothing, and after whose end nobody can act.
void thread_that_ends() {
  std::thread([] { std::this_thread::sleep_for(std::chrono::milliseconds(2500)); }).detach();
  semaphore s(0);
  s.acquire();  // marks acquire
}

// The call of mutex::lock has the line of std::lock_guard.
[[gnu::noinline]] void write_row(mutex& rows) {
  const std::lock_guard hold(rows);
  asm volatile("" ::: "memory");  // not a tail call
}
void lock_of_the_library() {
  mutex m;
  m.lock();
  finish([&] { async([&] { write_row(m); }); });
}

void promise_never_set() {
  promise<int> p;  // marks made
  finish([&] {
    async(name("reader"), [&] { p.get_future().get(); });  // marks get
  });
}

// Coroutines wait without a stack: one for the promise, and one for the finish of that.
void coroutines_without_a_promise() {
  promise<int> p;  // marks made
  const auto reader = [](future<int> of) -> task<> {
    static_cast<void>(co_await of);  // marks await
  };
  const auto parent = [reader](future<int> of) -> task<> {
    co_await finish_awaitable([&] {       // marks inner
      async(name("reader"), reader(of));  // marks spawn
    });
  };
  finish([&] { async(parent(p.get_future())); });
}

void channel_never_sent() {
  channel<int> c(1);
  c.receive();  // marks receive
}

void channel_full() {
  channel<int> c(1);
  c.send(1);
  c.send(2);  // marks send
}

void semaphore_without_permits() {
  semaphore s(0);
  s.acquire();  // marks acquire
}

void latch_too_large() {
  latch l(3);
  finish([&] {
    for (int i = 0; i < 2; ++i) async([&] { l.arrive_and_wait(); });  // marks wait
  });
}

void sync_var_never_filled() {
  sync_var<int> v;
  v.read_fe();  // marks read
}

void single_var_never_written() {
  single_var<int> v;
  v.read_ff();  // marks read
}

void when_never_true() {
  bool ready = false;
  when([&] { return ready; }, [] {});  // marks when
}

void monitor_never_true() {
  monitor m;
  bool ready = false;
  m.when([&] { return ready; }, [] {});  // marks when
}

void phaser_without_signal() {
  const phaser ph;  // marks made
  latch never(1);
  async(phased(ph, phaser_mode::wait), [ph] { ph.wait(); });  // marks phase
  never.wait();                                               // marks latch
}

void clock_member_waits() {
  const auto c = clock::make();
  latch never(1);
  finish([&] {
    for (int i = 0; i < 50; ++i) async([&] { never.wait(); });  // marks latch
  });
  c.advance();
}

// 300 tasks wait for a phase that one of them does not signal.
void clock_member_lost() {
  semaphore s(0);
  finish([&] {
    const auto c = clock::make();  // marks made
    for (int i = 0; i < 300; ++i) {
      async(clocked(c), [&, c, i] {  // marks spawn
        c.advance();
        if (i == 7) s.acquire();  // marks acquire
        c.advance();              // marks advance
      });
    }
  });
}

}  // namespace

std::vector<hang_case> missing() {
  return {{"lost_signal", lost_signal},
          {"thread_that_ends", thread_that_ends},
          {"lock_of_the_library", lock_of_the_library},
          {"promise_never_set", promise_never_set},
          {"coroutines_without_a_promise", coroutines_without_a_promise},
          {"channel_never_sent", channel_never_sent},
          {"channel_full", channel_full},
          {"semaphore_without_permits", semaphore_without_permits},
          {"latch_too_large", latch_too_large},
          {"sync_var_never_filled", sync_var_never_filled},
          {"single_var_never_written", single_var_never_written},
          {"when_never_true", when_never_true},
          {"monitor_never_true", monitor_never_true},
          {"phaser_without_signal", phaser_without_signal},
          {"clock_member_waits", clock_member_waits},
          {"clock_member_lost", clock_member_lost}};
}

}  // namespace apgas::test
