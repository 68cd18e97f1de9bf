// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <functional>
#include <vector>

#include <apgas/apgas.hpp>

#include "cases.hpp"

// Tasks of several places that wait for each other, or for something that nobody does.
namespace apgas::test {
namespace {

// Each place has its own, also where all places are in one process.
template <class T>
T& mine() {
  static std::array<T, 8> each;
  return each[static_cast<std::size_t>(here().id())];
}

struct no_permits : semaphore {
  no_permits() : semaphore(0) {}
};
struct signal_once : semaphore {  // is released once
  signal_once() : semaphore(0) {}
};

place next() { return places()[(static_cast<std::size_t>(here().id()) + 1) % places().size()]; }
place first() { return places()[0]; }

void finish_over_places() {
  finish([] {                                                // marks finish
    async_at(next(), [] { mine<no_permits>().acquire(); });  // marks acquire
  });
}

void at_cycle() {
  mine<mutex>().lock();
  at(next(), [] {                               // marks at_one
    at(first(), [] { mine<mutex>().lock(); });  // marks lock
  });
}

// Each of two tasks has locked a mutex of its place and wants that of the other place.
void two_mutexes_over_places() {
  finish([] {
    async([] {  // marks spawn_one
      mine<mutex>().lock();
      mine<signal_once>().release();
      at(next(), [] { mine<signal_once>().acquire(); });
      at(next(), [] { mine<mutex>().lock(); });  // marks at_one
    });
    async_at(next(), [] {  // marks spawn_two
      mine<mutex>().lock();
      mine<signal_once>().release();
      at(first(), [] { mine<signal_once>().acquire(); });
      at(first(), [] { mine<mutex>().lock(); });  // marks at_two
    });
  });
}

// The body is registered on c and waits in the inner finish for a task, which waits for a mutex of
// a task, which waits for the body to arrive.
void clock_over_places() {
  const auto c = clock::make();       // marks made
  async_at(next(), clocked(c), [c] {  // marks spawn_registered
    mine<mutex>().lock();
    mine<signal_once>().release();
    c.advance();  // marks advance
  });
  finish([] {  // marks finish
    async_at(next(), [] {
      mine<signal_once>().acquire();
      mine<mutex>().lock();  // marks lock
    });
  });
}

void phaser_over_places() {
  const phaser ph;  // marks made
  async_at(next(), phased(ph, phaser_mode::signal_wait), [ph] {
    mine<mutex>().lock();
    mine<signal_once>().release();
    ph.next();  // marks next
  });
  finish([] {  // marks finish
    async_at(next(), [] {
      mine<signal_once>().acquire();
      mine<mutex>().lock();  // marks lock
    });
  });
}

void clock_member_elsewhere() {
  const auto c = clock::make();                                        // marks made
  async_at(next(), clocked(c), [] { mine<no_permits>().acquire(); });  // marks acquire
  c.advance();                                                         // marks advance
}

// All places but the last one call the barrier.
void team_member_missing() {
  finish([] {
    for (const place p : places()) {
      async_at(p, [] {
        if (here().id() + 1 == static_cast<int>(places().size())) mine<no_permits>().acquire();
        team::world().barrier();  // marks barrier
      });
    }
  });
}

// A place would call the barrier after its at, whose body waits for a mutex. The task that has
// locked it waits in the barrier.
void barrier_and_at() {
  finish([] {
    async([] {  // marks spawn
      mine<mutex>().lock();
      mine<signal_once>().release();
      team::world().barrier();  // marks barrier
    });
    async_at(next(), [] {  // marks spawn_other
      at(first(), [] {     // marks at
        mine<signal_once>().acquire();
        mine<mutex>().lock();  // marks lock
      });
      team::world().barrier();
    });
  });
}

// The task that another place waits for needs that place to make the same call.
void allreduce_and_future() {
  async_at(next(), [] {                                  // marks spawn
    const auto sum = async_future_at(first(), [] {       // marks spawn_future
      return team::world().allreduce(1, std::plus<>());  // marks allreduce
    });
    sum.get();  // marks get
    team::world().allreduce(1, std::plus<>());
  });
}

// The root of the broadcast waits for a phase, at which the other member has not arrived.
void broadcast_and_clock() {
  const auto c = clock::make();  // marks made
  async_at(next(), clocked(c), [c] {
    c.advance();  // marks advance
    team::world().broadcast(1, here());
  });
  team::world().broadcast(0, next());  // marks broadcast
  c.advance();
}

void two_teams() {
  const team one{place_group(places())};
  const team other{place_group(places())};
  finish([=] {
    async_at(next(), [=] {
      other.barrier();  // marks other
      one.barrier();
    });
    one.barrier();  // marks one
    other.barrier();
  });
}

void future_of_another_place() {
  mine<mutex>().lock();
  const future<int> f = async_future_at(next(), [] {  // marks spawn
    at(first(), [] { mine<mutex>().lock(); });        // marks at
    return 1;
  });
  f.get();  // marks get
}

void when_at_another_place() {
  at(next(), [] {                       // marks at
    when([] { return false; }, [] {});  // marks when
  });
}

void lost_async() {
  async_at(next(), [] {
    static std::array<channel<int>, 8> never{channel<int>(1), channel<int>(1), channel<int>(1),
                                             channel<int>(1), channel<int>(1), channel<int>(1),
                                             channel<int>(1), channel<int>(1)};
    never[static_cast<std::size_t>(here().id())].receive();  // marks receive
  });
}

void finish_of_main() {
  for (const place p : places())
    async_at(p, [] { mine<no_permits>().acquire(); });  // marks acquire
}

// A chain of calls through all places ends at the mutex that the first task has locked.
void go_round() {
  if (next() == first()) return at(first(), [] { mine<mutex>().lock(); });
  at(next(), [] { go_round(); });
}
void ring_of_calls() {
  mine<mutex>().lock();
  go_round();
}

// The task that waits is a child in a finish of the body of the call.
void child_of_a_body() {
  mine<mutex>().lock();
  at(next(), [] {  // marks at
    finish([] {
      async([] { at(first(), [] { mine<mutex>().lock(); }); });  // marks inner
    });
  });
}

void result_into_memory() {
  std::vector<int> result(4);
  at_into(next(), std::span(result), [] {  // marks into
    mine<no_permits>().acquire();          // marks acquire
    return std::vector<int>(4);
  });
}

}  // namespace

std::vector<hang_case> over_places() {
  return {{"finish_over_places", finish_over_places},
          {"at_cycle", at_cycle},
          {"two_mutexes_over_places", two_mutexes_over_places},
          {"clock_over_places", clock_over_places},
          {"phaser_over_places", phaser_over_places},
          {"clock_member_elsewhere", clock_member_elsewhere},
          {"team_member_missing", team_member_missing},
          {"barrier_and_at", barrier_and_at},
          {"allreduce_and_future", allreduce_and_future},
          {"broadcast_and_clock", broadcast_and_clock},
          {"two_teams", two_teams},
          {"future_of_another_place", future_of_another_place},
          {"when_at_another_place", when_at_another_place},
          {"lost_async", lost_async},
          {"finish_of_main", finish_of_main},
          {"ring_of_calls", ring_of_calls},
          {"child_of_a_body", child_of_a_body},
          {"result_into_memory", result_into_memory}};
}

}  // namespace apgas::test
