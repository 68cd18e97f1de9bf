// SPDX-License-Identifier: Apache-2.0
#include <mutex>

#include <apgas/apgas.hpp>

#include "cases.hpp"

// Tasks that wait for each other.
namespace apgas::test {
namespace {

void two_mutexes() {
  mutex first;
  mutex second;
  latch both(2);
  finish([&] {
    async([&] {  // marks spawn_one
      const std::lock_guard hold(first);
      both.arrive_and_wait();
      second.lock();  // marks lock_one
    });
    async([&] {  // marks spawn_two
      const std::lock_guard hold(second);
      both.arrive_and_wait();
      first.lock();  // marks lock_two
    });
  });
}

void mutex_twice() {
  mutex m;
  m.lock();
  m.lock();  // marks again
}

void future_cycle() {
  promise<future<int>> early;
  const future<future<int>> handle = early.get_future();
  const future<int> one = async_future([&, handle] {  // marks spawn_one
    return handle.get().get() + 1;                    // marks get_one
  });
  const future<int> two = async_future([one] {  // marks spawn_two
    return one.get() + 1;                       // marks get_two
  });
  early.set_value(two);
  two.wait();  // marks main_waits
}

// The body is registered on c and waits in the inner finish for a task, which waits for the future
// of a task, which waits for the body to arrive.
void clock_and_finish() {
  const auto c = clock::make();                              // marks made
  const future<int> phases = async_future(clocked(c), [c] {  // marks spawn_registered
    c.advance();                                             // marks advance
    return 1;
  });
  finish([&] {                      // marks finish
    async([&] { phases.wait(); });  // marks wait
  });
}

void phaser_and_finish() {
  const phaser ph;  // marks made
  const future<int> phases = async_future(phased(ph, phaser_mode::signal_wait), [ph] {
    ph.next();  // marks next
    return 1;
  });
  finish([&] {                      // marks finish
    async([&] { phases.wait(); });  // marks wait
  });
}

void shared_mutex_upgrade() {
  shared_mutex m;
  mutex other;
  latch both(2);
  finish([&] {
    async([&] {
      m.lock();
      both.arrive_and_wait();
      other.lock();  // marks other
    });
    async([&] {
      other.lock();
      both.arrive_and_wait();
      m.lock_shared();  // marks shared
    });
  });
}

// A coroutine, which has no stack while it waits, is registered on c, whose phase the task awaits
// that computes the future.
void coroutine_and_clock() {
  const auto c = clock::make();  // marks made
  const future<int> phases = async_future(clocked(c), [c] {
    c.advance();  // marks advance
    return 1;
  });
  const auto reader = [](future<int> of) -> task<> {
    static_cast<void>(co_await of);  // marks await
  };
  finish([&] {
    async(clocked(c), reader(phases));  // marks spawn
    c.drop();
  });
}

void forked_branches() {
  mutex m;
  latch locked(2);
  fork_join(  // marks fork
      [&] {
        locked.arrive_and_wait();
        m.lock();  // marks lock
      },
      [&] {
        m.lock();
        locked.arrive_and_wait();
      });
}

}  // namespace

std::vector<hang_case> cycles() {
  return {{"two_mutexes", two_mutexes},
          {"mutex_twice", mutex_twice},
          {"future_cycle", future_cycle},
          {"clock_and_finish", clock_and_finish},
          {"phaser_and_finish", phaser_and_finish},
          {"shared_mutex_upgrade", shared_mutex_upgrade},
          {"coroutine_and_clock", coroutine_and_clock},
          {"forked_branches", forked_branches}};
}

}  // namespace apgas::test
